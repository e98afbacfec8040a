"""Comparisons with other ways to find a plan, the library's and one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from . import _core
from ._plan import Plan
from ._progress import Wish, listening
from ._question import Question
from ._views import Drawing, data_frame

# What a baseline of one's own gives: a plan, its degrees, or nothing.
Found = Union[Plan, Mapping[str, Any], None]
Baseline = Callable[[Question], Found]


class Comparison:
    """The plans of the search and of baselines, priced alike. `nest.compare` makes it."""

    def __init__(self, core: _core.Comparison) -> None:
        self._core = core
        self._value = core.value()

    @property
    def plans(self) -> dict[str, Plan]:
        """The plan of each that has one, by name; the search's is "nest"."""
        return {name: Plan(core) for name, core in self._core.plans().items()}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """What is said of each plan: `name`, `status`, `predicted`, `parallelism`, .."""
        return list(self._value["plans"])

    def to_dict(self) -> dict[str, Any]:
        """What `nest compare --json` prints."""
        return dict(self._value)

    def to_pandas(self) -> Any:
        """A row for each plan, with its throughput as a share of the search's."""
        rows = []
        ours = next((r["predicted"]["samples_per_s"] for r in self.rows if "predicted" in r), None)
        for row in self.rows:
            one = {"name": row["name"], "status": row["status"]}
            if "predicted" in row and ours:
                one["step_s"] = row["predicted"]["step_s"]
                one["of_ours"] = row["predicted"]["samples_per_s"] / ours
            rows.append(one)
        return data_frame(rows).set_index("name")

    def drawing(self) -> Drawing:
        """The throughput of each as a bar."""
        return Drawing(self._core.svg())

    def __str__(self) -> str:
        return self._core.text()

    def __repr__(self) -> str:
        return f"<nest.Comparison of {', '.join(str(row['name']) for row in self.rows)}>"


def compare(
    question: Question,
    baselines: Sequence[str] = ("manual", "mcmc", "alpa", "phaze"),
    *,
    own: Mapping[str, Baseline] | None = None,
    evaluations: int = 20_000,
    seed: int = 1,
    progress: Wish = None,
) -> Comparison:
    """Asks the search and each baseline for a plan, and checks and prices all of them in the same way.

    Args:
        question: what all of them are asked.
        baselines: names of `nest.baselines()`.
        own: baselines of one's own by name: functions that take the question and give a plan, its
            degrees as a dict, or None.
        evaluations: plans that mcmc prices.
        seed: of mcmc.
        progress: True, or a callback that gets a `Progress`.

    Examples:
        >>> import nest
        >>> def all_data(question):
        ...     return {"data": question.devices, "zero": 1}
        >>> q = nest.Question(model="gpt2", devices=8, global_batch=64)
        >>> found = nest.compare(q, ["manual"], own={"data": all_data})
        >>> found.plans["data"].data
        8
    """

    def asking(find: Baseline) -> Callable[[], _core.Plan | None]:
        def ask() -> _core.Plan | None:
            found = find(question)
            if isinstance(found, Mapping):
                found = question.plan(found)
            return None if found is None else found._core

        return ask

    wrapped = [(name, asking(find)) for name, find in (own or {}).items()]
    with listening(progress) as listener:
        return Comparison(
            _core.compare(question._core, list(baselines), wrapped, evaluations, seed, listener)
        )
