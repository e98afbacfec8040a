"""What is said of plans: why they are as they are, what differs, what they become, and whether they may
be run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ._views import data_frame


class Explanation:
    """Why a plan takes as long as it does, and what would help. `Plan.explain` makes it."""

    def __init__(self, value: dict[str, Any]) -> None:
        self._value = value

    @property
    def binds(self) -> list[str]:
        """What limits the plan, a sentence each, the most important first."""
        return list(self._value["binds"])

    @property
    def effects(self) -> list[dict[str, Any]]:
        """The step with one thing changed: `change`, `status`, `step_s`."""
        return list(self._value["effects"])

    @property
    def shadow_prices(self) -> list[dict[str, Any]]:
        """What more of each resource would buy; empty unless it was searched."""
        return list(self._value.get("shadow_prices", []))

    def to_dict(self) -> dict[str, Any]:
        """What `nest explain --json` prints."""
        return dict(self._value)

    def to_pandas(self) -> Any:
        """The effects, a row each, with their share of the step."""
        frame = data_frame(self.effects)
        frame["share"] = frame["step_s"] / self._value["predicted"]["step_s"] - 1
        return frame

    def __repr__(self) -> str:
        return "\n".join(["<nest.Explanation:", *(f"  {sentence}" for sentence in self.binds)]) + ">"


class Difference:
    """What tells two plans apart. `Plan.diff` makes it."""

    def __init__(self, value: dict[str, Any]) -> None:
        self._value = value

    @property
    def choices(self) -> list[dict[str, str]]:
        """Choices that differ: `what`, `first`, `second`."""
        return list(self._value["choices"])

    @property
    def terms(self) -> dict[str, float]:
        """Seconds by which each part of the step changes."""
        return {term["name"]: float(term["change_s"]) for term in self._value["terms"]}

    def to_dict(self) -> dict[str, Any]:
        """What `nest diff --json` prints."""
        return dict(self._value)

    def to_pandas(self) -> Any:
        """The choices, a row each."""
        return data_frame(self.choices)

    def __repr__(self) -> str:
        change = self._value["second_s"] - self._value["first_s"]
        return f"<nest.Difference of {len(self.choices)} choices, {change:+.3g} s a step>"


class Export:
    """Files that make a framework run a plan. `Plan.export` makes them."""

    def __init__(self, value: dict[str, Any], files: dict[str, bytes] | None) -> None:
        self._value = value
        self._files = files

    @property
    def folder(self) -> Path | None:
        """Where they were written; None where they were not."""
        return Path(self._value["folder"]) if "folder" in self._value else None

    @property
    def files(self) -> dict[str, bytes]:
        """Their contents by name."""
        if self._files is None:
            folder = Path(self._value["folder"])
            self._files = {name: (folder / name).read_bytes() for name in self._value["files"]}
        return self._files

    @property
    def lost(self) -> list[str]:
        """What the target cannot say, a sentence each."""
        return list(self._value["lost"])

    @property
    def next(self) -> list[str]:
        """What to do with the files: commands."""
        return list(self._value["next"])

    @property
    def releases(self) -> list[str]:
        """Releases of the framework that the files are for."""
        return list(self._value["releases"])

    def text(self, name: str) -> str:
        """One of the files as text."""
        return self.files[name].decode()

    def __repr__(self) -> str:
        where = f" in {self.folder}" if self.folder else ""
        return f"<nest.Export to {self._value['target']}: {', '.join(self.files)}{where}>"


class Check:
    """Whether a run stays within its budget. `nest.check` and `Plan.check` make it; it is true where
    all is well."""

    def __init__(self, value: dict[str, Any]) -> None:
        self._value = value

    @property
    def within(self) -> bool:
        """Whether every budget is kept."""
        return bool(self._value["within"])

    @property
    def budgets(self) -> list[dict[str, Any]]:
        """Each budget: `what`, `limit`, `value`, `within`, `sentence`."""
        return list(self._value["budgets"])

    @property
    def sentences(self) -> list[str]:
        """What is said of each budget."""
        return [str(budget["sentence"]) for budget in self.budgets]

    def to_dict(self) -> dict[str, Any]:
        """What `nest check --json` prints."""
        return dict(self._value)

    def __bool__(self) -> bool:
        return self.within

    def __repr__(self) -> str:
        return f"<nest.Check, {'within' if self.within else 'over'}: {'; '.join(self.sentences)}>"
