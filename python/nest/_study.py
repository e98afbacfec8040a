"""What-if studies: the best plan for each value of a field of the inputs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _core
from ._progress import Wish, listening
from ._question import Question
from ._views import Drawing, Report, axes, data_frame


class Study:
    """The points of a study, a row each. `nest.sweep` makes it."""

    def __init__(self, core: _core.Study) -> None:
        self._core = core
        self._rows: list[dict[str, Any]] | None = None

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Each point as a line of `nest sweep`: `values`, `status`, `step_s`, `tokens_per_s`,
        `parallelism`, .."""
        if self._rows is None:
            self._rows = self._core.rows()
        return self._rows

    @property
    def findings(self) -> list[str]:
        """Where more of a field stops helping, a sentence each."""
        return self._core.findings()

    @property
    def front(self) -> list[dict[str, Any]]:
        """Rows that nothing beats: none is as fast with as little of everything that one pays for."""
        numbers = set(self._core.front())
        return [row for number, row in enumerate(self.rows) if number in numbers]

    def to_dict(self) -> dict[str, Any]:
        """What `nest sweep --json` prints."""
        return {"points": self._core.points, "rows": self.rows}

    def to_pandas(self) -> Any:
        """A row for each point, with the fields that vary first."""
        rows = []
        for row in self.rows:
            values = {field: _number(value) for field, value in row["values"].items()}
            rows.append({**values, **{k: v for k, v in row.items() if k not in ("values", "study")}})
        return data_frame(rows)

    def report(self) -> Report:
        """The study as one HTML page, as `nest sweep` writes it."""
        return Report(self._core.page(), 700)

    def drawing(self) -> Drawing:
        """Throughput over the first field."""
        return Drawing(self._core.chart())

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Writes results.csv and sweep.html to a folder."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        (path / "results.csv").write_text(self._core.csv(), encoding="utf-8")
        self.report().save(path / "sweep.html")
        return path

    def plot(self, ax: Any = None, y: str = "tokens_per_s") -> Any:
        """A column over the first field, a line for each value of the others, by matplotlib."""
        ax = axes(ax)
        frame = self.to_pandas()
        fields = list(self.rows[0]["values"]) if self.rows else []
        if len(fields) == 1:
            ax.plot(frame[fields[0]], frame[y], marker="o")
        else:
            for values, part in frame.groupby(fields[1:]):
                names = values if isinstance(values, tuple) else (values,)
                label = ", ".join(f"{field} {value}" for field, value in zip(fields[1:], names))
                ax.plot(part[fields[0]], part[y], marker="o", label=label)
            ax.legend()
        if fields:
            ax.set_xlabel(fields[0])
        ax.set_ylabel(y)
        return ax

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<nest.Study of {len(self)} points>"


def _number(text: str) -> object:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def sweep(
    question: Question,
    vary: Mapping[str, object] | None = None,
    /,
    *,
    progress: Wish = None,
    **fields: object,
) -> Study:
    """Plans every combination of values of up to three fields, points side by side on all cores.

    Args:
        question: what all points have in common; its `time_limit` is for all of them together.
        vary: fields that are no keywords, such as `{"cluster.levels.spine.bandwidth": ["25GB/s", "50GB/s"]}`.
        progress: True, or a callback that gets a `Progress`.
        fields: options that vary, as lists of values or as a text such as "1..64:log7".

    Examples:
        >>> import nest
        >>> q = nest.Question(model="gpt2", global_batch=64)
        >>> study = nest.sweep(q, devices=[8, 16])
        >>> [row["status"] for row in study.rows]
        ['optimal', 'optimal']
    """
    wanted = {**(vary or {}), **{name.rstrip("_").replace("_", "-"): v for name, v in fields.items()}}
    with listening(progress) as listener:
        return Study(_core.sweep(question._core, list(wanted.items()), listener))
