"""Measured beside predicted while a run trains.

watch = nest.callbacks.Watch(plan)             # in a loop of one's own
for batch in batches:
    with watch.step():
        train(batch)

trainer.add_callback(nest.callbacks.TrainerWatch(plan))   # in the Trainer of transformers
"""

from __future__ import annotations

import contextlib
import logging
import statistics
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ._plan import Plan

logger = logging.getLogger("nest")


class Deviation(UserWarning):
    """A run differs from what was predicted for it by more than the threshold."""


@dataclass
class Comparison:
    """What was measured over some steps, beside what was predicted."""

    step_s: float
    """The median step."""
    predicted_step_s: float
    memory_bytes: int
    """The most that the allocator has held; 0 where it was not measured."""
    predicted_memory_bytes: int
    parts: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Parts of the step that were measured, each with what was predicted."""

    @property
    def step_error(self) -> float:
        """The measured step over the predicted, less 1."""
        return self.step_s / self.predicted_step_s - 1

    @property
    def memory_error(self) -> float:
        """The measured memory over the predicted, less 1; 0 where it was not measured."""
        if not self.memory_bytes or not self.predicted_memory_bytes:
            return 0.0
        return self.memory_bytes / self.predicted_memory_bytes - 1

    @property
    def part(self) -> str:
        """The measured part that differs by most seconds; empty where none was measured."""
        if not self.parts:
            return ""
        return max(self.parts, key=lambda name: abs(self.parts[name][0] - self.parts[name][1]))

    def sentences(self, threshold: float) -> list[str]:
        """What differs by more than the threshold, a sentence each."""
        found = []
        if abs(self.step_error) > threshold:
            sentence = (
                f"a step takes {self.step_s:.3g} s, {100 * self.step_error:+.1f} % of the predicted "
                f"{self.predicted_step_s:.3g} s"
            )
            if self.part:
                measured, predicted = self.parts[self.part]
                sentence += f"; most of it is '{self.part}': {measured:.3g} s for {predicted:.3g} s"
            found.append(sentence)
        if abs(self.memory_error) > threshold:
            held, predicted_gib = (n / 2**30 for n in (self.memory_bytes, self.predicted_memory_bytes))
            found.append(
                f"memory: the allocator holds {held:.1f} GiB, {100 * self.memory_error:+.1f} % of the "
                f"predicted {predicted_gib:.1f} GiB"
            )
        return found


class Watch:
    """Times steps, and warns where they differ from what the plan predicts.

    Args:
        plan: the plan that runs.
        rank: of this process, for the memory of its stage.
        threshold: warn where step or memory differ by more than this share.
        warm_up: steps that are not counted: compilers and caches fill.
        every: steps from one comparison to the next.

    Examples:
        >>> import nest
        >>> plan = nest.Question(model="gpt2", devices=1, global_batch=8).plan()
        >>> watch = nest.callbacks.Watch(plan, warm_up=0)
        >>> for _ in range(3):
        ...     watch.add(plan.step)
        >>> watch.compare().step_error
        0.0
    """

    def __init__(
        self,
        plan: Plan,
        *,
        rank: int = 0,
        threshold: float = 0.15,
        warm_up: int = 3,
        every: int = 10,
    ) -> None:
        price = plan.price()
        self.predicted_step_s = price.step
        self.predicted_parts = _predicted_parts(price.breakdown, price.step)
        self.predicted_memory_bytes = _memory_of(plan, price.stages, rank)
        self.threshold = threshold
        self.warm_up = warm_up
        self.every = every
        self._steps: list[float] = []
        self._parts: dict[str, list[float]] = {}
        self._seen = 0
        self._said: set[str] = set()

    @contextlib.contextmanager
    def step(self) -> Iterator[None]:
        """Around one step of a loop."""
        begun = time.perf_counter()
        yield
        _synchronize()
        self.add(time.perf_counter() - begun)

    def add(self, seconds: float, parts: Mapping[str, float] | None = None) -> None:
        """Counts a step that was timed elsewhere.

        Args:
            seconds: of the step.
            parts: seconds of parts of it: those of `predicted_parts`, or others, which are predicted to
                take nothing.
        """
        self._seen += 1
        if self._seen <= self.warm_up:
            return
        self._steps.append(seconds)
        for name, taken in (parts or {}).items():
            self._parts.setdefault(name, []).append(taken)
        if len(self._steps) % self.every == 0:
            self._tell()

    def compare(self) -> Comparison | None:
        """The steps so far beside the prediction; None before the first one that counts."""
        if not self._steps:
            return None
        parts = {
            name: (statistics.median(taken), self.predicted_parts.get(name, 0.0))
            for name, taken in self._parts.items()
        }
        return Comparison(
            statistics.median(self._steps),
            self.predicted_step_s,
            _held_bytes(),
            self.predicted_memory_bytes,
            parts,
        )

    def _tell(self) -> None:
        found = self.compare()
        if found is None:
            return
        logger.info(
            "step %.4g s measured, %.4g s predicted; memory %.4g GiB held, %.4g GiB predicted",
            found.step_s,
            found.predicted_step_s,
            found.memory_bytes / 2**30,
            found.predicted_memory_bytes / 2**30,
        )
        for sentence in found.sentences(self.threshold):
            kind = sentence.partition(":")[0] if sentence.startswith("memory") else "step"
            if kind not in self._said:  # once is enough
                self._said.add(kind)
                warnings.warn(sentence, Deviation, stacklevel=3)


class TrainerWatch:
    """The same as a callback of transformers' Trainer; measured and predicted figures are also logged."""

    def __init__(self, plan: Plan, **options: Any) -> None:
        self.watch = Watch(plan, **options)
        self._begun = self._ended = self._updating = 0.0

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """A step begins with its first micro-batch."""
        self._begun = time.perf_counter()
        self._updating = 0.0

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Gradients are there, and the optimizer begins."""
        _synchronize()
        self._updating = time.perf_counter()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """A step ends: the time since the last one has ended counts, loading of data included."""
        _synchronize()
        now = time.perf_counter()
        parts = {"passes": (self._updating or now) - self._begun}
        if self._updating:
            parts["optimizer"] = now - self._updating
        if self._ended:
            parts["between steps"] = self._begun - self._ended
        whole = now - (self._ended or self._begun)
        self._ended = now
        self.watch.add(whole, parts)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        """Adds what was measured and predicted to what is logged."""
        found = self.watch.compare()
        if found is None or logs is None:
            return
        logs["nest/step_s"] = found.step_s
        logs["nest/predicted_step_s"] = found.predicted_step_s
        if found.memory_bytes:
            logs["nest/memory_bytes"] = found.memory_bytes
            logs["nest/predicted_memory_bytes"] = found.predicted_memory_bytes

    def __getattr__(self, name: str) -> Any:
        if name.startswith("on_"):  # the other events of a callback
            return lambda *args, **kwargs: None
        raise AttributeError(name)


def _predicted_parts(breakdown: Mapping[str, float], step: float) -> dict[str, float]:
    optimizer = breakdown.get("optimizer", 0.0)
    compute = breakdown.get("compute", 0.0) + breakdown.get("recompute", 0.0)
    bubble = breakdown.get("bubble", 0.0)
    return {
        **breakdown,
        "passes": step - optimizer,
        "optimizer": optimizer,
        "compute": compute,
        "communication": step - compute - bubble - optimizer,
        "between steps": 0.0,
    }


def _memory_of(plan: Plan, stages: list[dict[str, Any]], rank: int) -> int:
    """What the allocator of a rank's stage is predicted to hold: all but what lies outside of it."""
    used = sorted(device for stage in plan.devices() for cell in stage for device in cell)
    device = used[rank] if rank < len(used) else used[0]
    for number, stage in enumerate(plan.devices()):
        if any(device in cell for cell in stage):
            memory = stages[number]["memory"]
            return int(memory["total_bytes"]) - int(memory["reserve_bytes"])
    return 0


def _cuda() -> Any:
    import sys

    torch = sys.modules.get("torch")
    return torch.cuda if torch is not None and torch.cuda.is_available() else None


def _synchronize() -> None:
    cuda = _cuda()
    if cuda is not None:
        cuda.synchronize()


def _held_bytes() -> int:
    cuda = _cuda()
    return int(cuda.max_memory_reserved()) if cuda is not None else 0
