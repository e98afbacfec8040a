"""One step of a plan, run event by event."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from ._views import Drawing, axes, data_frame


class Segment(NamedTuple):
    """What a worker does for a while; a worker is one stage of one copy."""

    stage: int
    copy: int
    kind: str
    """`forward`, `backward`, `weight`, `receive`, `reduce`, `gather`, `norm` or `optimizer`."""
    micro_batch: int
    chunk: int
    begin: float
    end: float
    background: bool
    """On the communication stream, beside the passes."""


class Simulation:
    """A simulated step beside its price. `Plan.simulate` makes it.

    Examples:
        >>> import nest
        >>> plan = nest.Question(model="gpt2", devices=8, global_batch=32).plan(pipeline=2)
        >>> run = plan.simulate()
        >>> run.timeline[0].kind, abs(run.step / run.priced - 1) < 0.05
        ('forward', True)
    """

    def __init__(
        self,
        value: dict[str, Any],
        segments: list[tuple[int, int, str, int, int, float, float, bool]],
        trace: str,
        svg: str,
    ) -> None:
        self._value = value
        self._trace = trace
        self._svg = svg
        self.timeline: list[Segment] = [Segment(*segment) for segment in segments]
        """What every worker does when, in order of the ends; empty without a timeline."""

    @property
    def step(self) -> float:
        """Seconds of the step as simulated."""
        return float(self._value["step_s"])

    @property
    def priced(self) -> float:
        """Seconds of the step as priced."""
        return float(self._value["priced_s"])

    @property
    def cause(self) -> str:
        """Why the two differ, in words."""
        return str(self._value["cause"])

    @property
    def bubble_fraction(self) -> float:
        """The share of the step in which the busiest stage waits while passes run."""
        return float(self._value["bubble_fraction"])

    @property
    def stages(self) -> list[dict[str, Any]]:
        """Work, receives and peak memory of each stage."""
        return list(self._value["stages"])

    def to_dict(self) -> dict[str, Any]:
        """What `nest simulate --json` prints."""
        return dict(self._value)

    def to_pandas(self) -> Any:
        """The timeline, a row for each segment."""
        return data_frame([segment._asdict() for segment in self.timeline])

    def drawing(self) -> Drawing:
        """The pipeline as a chart."""
        return Drawing(self._svg)

    def trace(self, file: str | os.PathLike[str]) -> Path:
        """Writes a trace for ui.perfetto.dev or chrome://tracing."""
        path = Path(file)
        path.write_text(self._trace, encoding="utf-8")
        return path

    def plot(self, ax: Any = None) -> Any:
        """The first copy's passes as bars, by matplotlib."""
        ax = axes(ax)
        first = self.timeline[0].copy if self.timeline else 0
        passes = [s for s in self.timeline if s.copy == first and not s.background]
        for number, kind in enumerate(dict.fromkeys(s.kind for s in passes)):
            own = [s for s in passes if s.kind == kind]
            ax.barh(
                [s.stage for s in own],
                [s.end - s.begin for s in own],
                left=[s.begin for s in own],
                label=kind,
                color=f"C{number}",
                edgecolor="white",
                linewidth=0.2,
            )
        ax.invert_yaxis()
        ax.set_xlabel("seconds")
        ax.set_ylabel("stage")
        ax.legend()
        return ax

    def _repr_svg_(self) -> str | None:
        return self._svg or None

    def __repr__(self) -> str:
        return (
            f"<nest.Simulation: {self.step:.3g} s simulated, {self.priced:.3g} s priced; {self.cause}>"
        )
