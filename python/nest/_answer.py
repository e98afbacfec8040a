"""Answers: the best plan, how sure that is, and why it is not another one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from . import _core
from ._errors import NoPlan
from ._plan import Plan
from ._progress import Wish, listening
from ._views import Report, data_frame


class Answer:
    """What a search found. `Question.solve` makes it.

    A question without a plan has an answer too: its `status` is `infeasible` or `limit`, `reason` says
    why, and `advice` what would make a plan fit. Only asking it for its plan raises `nest.NoPlan`.

    Examples:
        >>> import nest
        >>> a = nest.Question(model="gpt2", devices=8, global_batch=64).solve()
        >>> a.status, a.plan.data, a.bound <= a.step
        ('optimal', 8, True)
        >>> nest.Question(model="gpt3-175b", devices=8, global_batch=8).solve(advise=False).status
        'infeasible'
    """

    def __init__(self, core: _core.Answer) -> None:
        self._core = core
        self._plans: list[Plan] | None = None
        self._dict: dict[str, Any] | None = None

    @property
    def status(self) -> str:
        """`optimal` (proved), `feasible`, `infeasible` (there is none), or `limit` (none was found in
        time)."""
        return self._core.status

    @property
    def feasible(self) -> bool:
        """Whether there is a plan."""
        return bool(self._all())

    @property
    def plan(self) -> Plan:
        """The plan to take."""
        if not self._all():
            raise NoPlan(self.reason or f"the search ended with the status '{self.status}'")
        return self._all()[0]

    @property
    def alternatives(self) -> list[Plan]:
        """The next best plans of other degrees, best first; as many as `top` and `runners_up` ask for."""
        return self._all()[1:]

    @property
    def step(self) -> float:
        """Seconds of a step of the plan."""
        return self.plan.step

    @property
    def bound(self) -> float:
        """No plan of the space takes fewer seconds a step."""
        return self._core.bound

    @property
    def gap(self) -> float:
        """The share by which the plan may be longer than the best there is; 0 where it is proved."""
        return max(0.0, 1 - self.bound / self.step)

    @property
    def reason(self) -> str:
        """Why there is no plan."""
        return str(self._value().get("reason", ""))

    @property
    def warnings(self) -> list[str]:
        """What whoever runs the plan should know, a sentence each."""
        return list(self._value().get("warnings", []))

    @property
    def strict(self) -> dict[str, Any] | None:
        """Where the plan is a simpler one than the fastest, that one in short, with why: `step_s`,
        `parallelism`, `avoids`, `why`. It is the first of the alternatives."""
        return self._value().get("strict")

    @property
    def near_ties(self) -> list[dict[str, Any]]:
        """Plans within the noise of prediction of the fastest that the search came across, in short."""
        return list(self._value().get("near_ties", []))

    @property
    def safety(self) -> dict[str, Any] | None:
        """What it costs that the plan fits in memory with some certainty: `memory_margin`, `share`,
        `why`; None where it costs nothing."""
        return self._value().get("safety")

    @property
    def further_stopped(self) -> bool:
        """Whether a limit ended what is looked for beside the optimum, such as a simpler plan: with more
        time the plan may be another."""
        return bool(self._value().get("further_stopped", False))

    @property
    def advice(self) -> list[dict[str, Any]]:
        """Where nothing fits: changes that would help, the cheapest first."""
        return list(self._value().get("advice", []))

    def _all(self) -> list[Plan]:
        if self._plans is None:
            self._plans = [Plan(core) for core in self._core.plans()]
        return self._plans

    def _value(self) -> dict[str, Any]:
        if self._dict is None:
            self._dict = self._core.value(False)
        return self._dict

    def to_dict(self, *, stats: bool = False) -> dict[str, Any]:
        """What `nest plan --json` prints; with `stats` what `--stats` adds."""
        return self._core.value(stats)

    def to_json(self, *, stats: bool = False) -> str:
        """The same as text."""
        return self._core.json(stats) + "\n"

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Writes the answer to a file, which every command takes as a plan."""
        path = Path(file)
        path.write_text(self.to_json(), encoding="utf-8")
        return path

    def why_not(
        self, choice: str | Plan | None = None, *, progress: Wish = None, **choices: Any
    ) -> WhyNot:
        """Why the plan does not make another choice, or is not another plan.

        Args:
            choice: such as `"tensor=4"` or `"tensor=4 zero=3"`, or a plan.
            progress: True, or a callback that gets a `Progress`.
            choices: the same as keywords.

        Examples:
            >>> import nest
            >>> a = nest.Question(model="gpt2", devices=8, global_batch=64).solve()
            >>> other = a.why_not(tensor=2)
            >>> other.status, other.cost > 0
            ('optimal', True)
        """
        if isinstance(choice, Plan):
            with listening(progress) as listener:
                return WhyNot(self._core.why_not_plan(choice._core, listener))
        words = [choice] if choice else []
        words += [
            f"{name.rstrip('_').replace('_', '-')}={_word(value)}" for name, value in choices.items()
        ]
        with listening(progress) as listener:
            return WhyNot(self._core.why_not(" ".join(words), listener))

    def why(self, *, progress: Wish = None) -> Any:
        """For each degree of the plan its neighbouring values and what they cost, as a DataFrame."""
        with listening(progress) as listener:
            return data_frame(self._core.why(listener))

    def report(self, *, title: str = "") -> Report:
        """The plan with its proof and alternatives as one HTML page."""
        return Report(self.plan._core.report(self._core.json(False), title, []))

    def to_pandas(self) -> Any:
        """A row for the plan and for each alternative."""
        rows = []
        for plan in self._all():
            degrees = {
                key: value for key, value in plan.parallelism.items() if not isinstance(value, dict)
            }
            rows.append({"step_s": plan.step, "micro_batch": plan.micro_batch, **degrees})
        return data_frame(rows)

    def _repr_html_(self) -> str:
        if not self.feasible:
            return f"<pre>{self!r}</pre>"
        return self.report()._repr_html_()

    def __bool__(self) -> bool:
        return self.feasible

    def __repr__(self) -> str:
        if not self.feasible:
            return f"<nest.Answer, {self.status}: {self.reason}>"
        return f"<nest.Answer, {self.status}: {self.step:.3g} s a step, {self.plan!r}>"


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (list, tuple, range)):
        return ",".join(_word(one) for one in value)
    return str(value)


class WhyNot:
    """What another choice or plan would cost. `Answer.why_not` makes it."""

    def __init__(self, value: dict[str, Any]) -> None:
        self._value = value

    @property
    def status(self) -> str:
        """Of the other choice: `optimal`, `feasible`, `infeasible`, `invalid` or `limit`."""
        return str(self._value["status"])

    @property
    def chosen(self) -> bool:
        """Whether the plan makes this choice already."""
        return bool(self._value.get("chosen", False))

    @property
    def cost(self) -> float:
        """Seconds a step more than the plan; infinite where it cannot be."""
        return float(self._value.get("cost_s", "inf"))

    @property
    def reason(self) -> str:
        """What stands in the way."""
        return str(self._value.get("reason", ""))

    @property
    def loses_most_by(self) -> dict[str, Any] | None:
        """The part of the step that grows most: `name`, `change_s`."""
        return self._value.get("loses_most_by")

    @property
    def relaxations(self) -> list[dict[str, Any]]:
        """What would make it the best: more bandwidth at a level, or more memory."""
        return list(self._value.get("relaxations", []))

    @property
    def plan(self) -> dict[str, Any] | None:
        """The best plan with that choice, as JSON has it; `nest.load_plan` reads it."""
        return self._value.get("plan")

    def to_dict(self) -> dict[str, Any]:
        """The key `why_not` of `nest plan --why-not .. --json`."""
        return dict(self._value)

    def __repr__(self) -> str:
        choice = self._value["choice"]
        if self.chosen:
            return f"<nest.WhyNot {choice}: the plan has it>"
        if "cost_s" not in self._value:
            return f"<nest.WhyNot {choice}: {self.reason}>"
        return f"<nest.WhyNot {choice}: {self.cost:+.3g} s a step>"
