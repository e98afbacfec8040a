"""Whether a model can be trained on some devices at all, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from ._answer import Answer
from ._question import Question

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import Options


class Fits:
    """Whether a model fits, with the plan that does it or the changes that would help. `nest.fits`
    makes it."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        """The answer of the search for the fastest plan that fits."""

    def __bool__(self) -> bool:
        return self.answer.feasible

    @property
    def memory_share(self) -> float:
        """How much of its memory the fullest device takes; not a number where nothing fits."""
        if not self.answer.feasible:
            return float("nan")
        memory = [stage["memory"] for stage in self.answer.plan.stages]
        return max(float(m["total_bytes"]) / float(m["capacity_bytes"]) for m in memory)

    @property
    def probability(self) -> float:
        """How likely the plan fits, by our errors on measured runs; 0 where nothing fits."""
        if not self.answer.feasible:
            return 0.0
        predicted: dict[str, Any] = self.answer.plan.to_dict()["predicted"]
        return float(predicted.get("fits_probability", "nan"))

    @property
    def advice(self) -> list[str]:
        """Where nothing fits: what would, a phrase each."""
        return [str(one["sentence"]) for one in self.answer.advice]

    def __repr__(self) -> str:
        if not self:
            return f"<nest.Fits, no: {self.answer.reason}; {'; '.join(self.advice)}>"
        share = 100 * self.memory_share
        return f"<nest.Fits, yes: {share:.1f} % of a device's memory with {self.answer.plan!r}>"


def fits(
    model: object,
    where: object = None,
    *,
    recipe: object = None,
    **options: Unpack[Options],
) -> Fits:
    """Whether a model can be trained on some devices.

    Args:
        model: as `nest.Question` takes it.
        where: an accelerator ("h100-sxm", in nodes of the usual size), or a cluster as `nest.Question`
            takes it.
        recipe: as `nest.Question` takes it.
        options: as `nest.Question` takes them, such as `devices=8` (default 1), `global_batch=8`,
            `sequence=2048`, `train="lora:16"`.

    Examples:
        >>> import nest
        >>> bool(nest.fits("llama3.1-8b", "h100-sxm", devices=8, global_batch=64))
        True
        >>> one = nest.fits("llama3.1-8b", "h100-sxm", global_batch=8, sequence=2048)
        >>> bool(one), len(one.advice) > 0
        (False, True)
    """
    if isinstance(where, str) and where in _core.accelerators():
        where = _core.accelerator_cluster(where)
    asked: dict[str, Any] = {"devices": 1, **options}
    return Fits(Question(model, where, recipe, **asked).solve())
