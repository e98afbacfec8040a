"""Constants of the cost model from one's own measurements."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import _core
from ._inputs import as_cluster, as_model, as_recipe
from ._plan import Plan
from ._views import data_frame


class Calibration:
    """What was learnt from measurements: multiples of a few constants. `nest.calibrate` makes it.

    `nest.Question(calibration=..)` takes it, and so does every command once it is saved.
    """

    def __init__(
        self, answer: dict[str, Any], value: dict[str, Any], warnings: list[str], text: str
    ) -> None:
        self._answer = answer
        self._value = value
        self._text = text
        self.warnings = warnings
        """What of the measurements could not be used, a sentence each."""

    @property
    def learnt_from(self) -> list[str]:
        """What it was learnt from, a sentence each."""
        return list(self._value.get("learnt_from", []))

    @property
    def unknown(self) -> list[str]:
        """What stays unknown, a sentence each."""
        return list(self._value.get("unknown", []))

    @property
    def multiples(self) -> dict[str, float]:
        """Constants that were moved, over the shipped ones: kernel_time, memory, .."""
        found = {}
        for key, value in self._value.items():
            if isinstance(value, dict) and "value" in value:
                found[key] = float(value["value"])
        return found

    def to_dict(self) -> dict[str, Any]:
        """The calibration as its file has it (docs/formats/calibration.md)."""
        return dict(self._value)

    def answer(self) -> dict[str, Any]:
        """What `nest calibrate --json` prints."""
        return dict(self._answer)

    def to_pandas(self) -> Any:
        """What was measured beside what is predicted before and after, a row each."""
        return data_frame([*self._answer.get("runs", []), *self._answer.get("network", [])])

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Writes the file that `--calibration` takes."""
        path = Path(file)
        path.write_text(
            "# Made by nest.calibrate; docs/formats/calibration.md\n" + self._text, encoding="utf-8"
        )
        return path

    def __repr__(self) -> str:
        moved = ", ".join(f"{key} {value:.3f}" for key, value in self.multiples.items())
        return f"<nest.Calibration: {moved or 'nothing that moves a constant'}>"


def calibrate(
    *measured: object,
    plan: Plan | str | os.PathLike[str] | None = None,
    model: object = None,
    cluster: object = None,
    recipe: object = None,
    unseen: bool = False,
) -> Calibration:
    """Moves a few constants of the cost model towards what was measured.

    Args:
        measured: any number of: files (logs of Megatron-LM, NeMo, torchtitan, DeepSpeed or the Trainer,
            tables of runs, output of nccl-tests, traces of torch's profiler); texts of such files;
            lists of dicts or DataFrames with the columns `plan`, `step_s` and `memory_gib`, where a
            plan may be a `Plan`; profilers of torch.
        plan: the plan that ran, for logs and traces, which do not say it.
        model: where a plan or a table does not say it; so are cluster and recipe.
        cluster: as above.
        recipe: as above.
        unseen: as if no run of a published row's own source had been seen.

    Examples:
        >>> import nest
        >>> plan = nest.Question(model="llama3.1-8b", devices=16, global_batch=64).plan(tensor=2, zero=1)
        >>> learnt = nest.calibrate([{"plan": plan, "step_s": 1.2 * plan.step}])
        >>> learnt.multiples["kernel_time"] > 1
        True
    """
    reader = _Measured()
    for one in measured:
        reader.read(one)
    which = reader.plan_name(plan) if plan is not None else None
    return Calibration(
        *_core.calibrate(
            reader.files,
            reader.plans,
            which,
            unseen,
            as_model(model),
            as_cluster(cluster),
            as_recipe(recipe),
        )
    )


class _Measured:
    """Measurements as texts, and the plans that they name."""

    def __init__(self) -> None:
        self.files: list[tuple[str, str]] = []
        self.plans: list[tuple[str, str]] = []

    def plan_name(self, plan: object) -> str:
        if not isinstance(plan, Plan):
            return os.fspath(plan)  # type: ignore[call-overload, no-any-return]
        name = f"plan {len(self.plans) + 1}"
        self.plans.append((name, plan.to_json()))
        return name

    def read(self, one: object) -> None:
        name = f"measurement {len(self.files) + 1}"
        if isinstance(one, os.PathLike) or (isinstance(one, str) and "\n" not in one):
            path = os.fspath(one)
            self.files.append((path, _core.read_file(path)))
        elif isinstance(one, str):
            self.files.append((name, one))
        elif hasattr(one, "export_chrome_trace"):  # a profiler of torch
            import tempfile

            with tempfile.TemporaryDirectory() as folder:
                trace = Path(folder) / "trace.json"
                one.export_chrome_trace(str(trace))
                self.files.append((name, trace.read_text(encoding="utf-8")))
        else:
            self._add_table(name, one)

    def _add_table(self, name: str, given: object) -> None:
        if hasattr(given, "to_dict") and hasattr(given, "columns"):  # a DataFrame
            given = given.to_dict("records")
        if isinstance(given, Mapping):
            given = [given]
        if not isinstance(given, Iterable):
            _core.fail("", "measured", f"a {type(given).__name__} is no measurement")
        rows = [dict(row) for row in given]
        if any("plan" in row for row in rows):
            for row in rows:
                row["plan"] = self.plan_name(row["plan"])
        if not rows or "memory_bytes" in rows[0]:
            self.files.append((name + ".json", json.dumps({"runs": rows})))
            return
        text = io.StringIO()
        columns = list(dict.fromkeys(key for row in rows for key in row))
        import csv

        writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        self.files.append((name + ".csv", text.getvalue()))
