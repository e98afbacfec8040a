"""What plans cost: one of them, or many at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _core
from ._views import axes, data_frame

if TYPE_CHECKING:
    from ._plan import Plan


class Price:
    """What a step of a plan takes, and what its stages hold: a line of `nest evaluate`."""

    def __init__(self, value: dict[str, Any]) -> None:
        self._value = value

    @property
    def status(self) -> str:
        """`feasible`, `infeasible` (it does not fit in memory) or `invalid`."""
        return str(self._value["status"])

    @property
    def reason(self) -> str:
        """Why it is infeasible or invalid; else empty."""
        return str(self._value["reason"])

    @property
    def fits(self) -> bool:
        """Whether the plan can be run."""
        return self.status == "feasible"

    @property
    def predicted(self) -> dict[str, Any]:
        """All predictions, by the keys of plan files; empty where the plan is invalid."""
        return dict(self._value.get("predicted", {}))

    @property
    def step(self) -> float:
        """Seconds of a step; not a number where the plan is invalid."""
        return float(self.predicted.get("step_s", "nan"))

    @property
    def mfu(self) -> float:
        """Model FLOPs over the peak of the devices."""
        return float(self.predicted.get("mfu", "nan"))

    @property
    def tokens_per_s(self) -> float:
        """Tokens that the run trains on in a second."""
        return float(self.predicted.get("tokens_per_s", "nan"))

    @property
    def breakdown(self) -> dict[str, float]:
        """Seconds of the parts of a step, which add up to it: compute, tensor, bubble, data, .."""
        parts = self.predicted.get("breakdown", {})
        return {name.removesuffix("_s"): float(seconds) for name, seconds in parts.items()}

    @property
    def stages(self) -> list[dict[str, Any]]:
        """Time and memory of each stage."""
        return list(self._value.get("stages", []))

    @property
    def memory_bytes(self) -> int:
        """Bytes that a device of the fullest stage takes; 0 where the plan is invalid."""
        return max((int(stage["memory"]["total_bytes"]) for stage in self.stages), default=0)

    def to_dict(self) -> dict[str, Any]:
        """What `nest evaluate` prints of the plan."""
        return dict(self._value)

    def to_pandas(self) -> Any:
        """A row for each stage: the parts of its time and of its memory."""
        rows = [{**stage["time"], **stage["memory"]} for stage in self.stages]
        return data_frame(rows).rename_axis("stage")

    def plot(self, ax: Any = None) -> Any:
        """The parts of a step as bars, by matplotlib."""
        ax = axes(ax)
        parts = {name: seconds for name, seconds in self.breakdown.items() if seconds > 0}
        ax.barh(list(parts)[::-1], list(parts.values())[::-1])
        ax.set_xlabel("seconds of a step")
        return ax

    def __repr__(self) -> str:
        if self.status == "invalid":
            return f"<nest.Price, invalid: {self.reason}>"
        return f"<nest.Price, {self.status}: {self.step:.3g} s a step, MFU {100 * self.mfu:.1f} %>"


class Prices:
    """What many plans of one question cost, as arrays with a value for each plan.

    `Question.price` makes them. Times of plans that cannot be run are not a number.
    """

    def __init__(self, core: _core.Prices, given: Mapping[str, Any]) -> None:
        self._core = core
        self._given = dict(given)

    def __len__(self) -> int:
        return len(self._core)

    @property
    def step(self) -> Any:
        """Seconds of a step."""
        return self._core.column("step")

    @property
    def tokens_per_s(self) -> Any:
        """Tokens that the run trains on in a second."""
        return self._core.column("tokens_per_s")

    @property
    def mfu(self) -> Any:
        """Model FLOPs over the peak of the devices."""
        return self._core.column("mfu")

    @property
    def memory_bytes(self) -> Any:
        """Bytes that a device of the fullest stage takes."""
        return self._core.column("memory_bytes")

    @property
    def fits_probability(self) -> Any:
        """How likely the plan fits in memory, by our errors on measured runs."""
        return self._core.column("fits_probability")

    @property
    def bubble_fraction(self) -> Any:
        """The share of a step in which stages wait for the pipeline."""
        return self._core.column("bubble_fraction")

    @property
    def devices(self) -> Any:
        """Devices that the plan uses; 0 where it cannot be run."""
        return self._core.column("devices")

    @property
    def breakdown(self) -> dict[str, Any]:
        """Seconds of the parts of a step, an array each."""
        return {key.removesuffix("_s"): self._core.column(key) for key in _core.breakdown_keys()}

    @property
    def fits(self) -> Any:
        """Whether the plan can be run."""
        import numpy

        return numpy.array(self._core.fits)

    @property
    def status(self) -> list[str]:
        """`feasible`, `infeasible` (it does not fit in memory) or `invalid`."""
        return self._core.status

    @property
    def reasons(self) -> list[str]:
        """Why plans are infeasible or invalid; empty for the others."""
        return self._core.reasons

    def best(self) -> int:
        """The number of the fastest plan that fits; a `nest.NoPlan` where none does."""
        import numpy

        from ._errors import NoPlan

        step = numpy.where(self.fits, self.step, numpy.inf)
        if len(step) == 0 or not numpy.isfinite(step).any():
            raise NoPlan("none of the plans fits")
        return int(step.argmin())

    def plan(self, index: int) -> Plan:
        """One of the plans, complete, placed and with its price."""
        from ._plan import Plan

        return Plan(self._core.plan(self._number(index)))

    def __getitem__(self, index: int) -> Price:
        return Price(self._core.value(self._number(index)))

    def _number(self, index: int) -> int:
        number = index + len(self) if index < 0 else index
        if not 0 <= number < len(self):
            raise IndexError(f"there are {len(self)} plans, and no plan {index}")
        return number

    def __iter__(self) -> Iterator[Price]:
        return (self[index] for index in range(len(self)))

    def to_pandas(self) -> Any:
        """A row for each plan: what was given, and what it costs."""
        columns = {
            **self._given,
            "status": self.status,
            "devices": self.devices,
            "step_s": self.step,
            "tokens_per_s": self.tokens_per_s,
            "mfu": self.mfu,
            "memory_bytes": self.memory_bytes,
            "fits_probability": self.fits_probability,
            **{f"{name}_s": seconds for name, seconds in self.breakdown.items()},
        }
        return data_frame(columns)

    def _repr_html_(self) -> str:
        try:
            return str(self.to_pandas()._repr_html_())
        except ImportError:
            return f"<pre>{self!r}</pre>"

    def __repr__(self) -> str:
        return f"<nest.Prices of {len(self):,} plans, {int(self.fits.sum()):,} of which fit>"


def price_columns(question: _core.Question, plans: object, columns: Mapping[str, Any]) -> Prices:
    """Prices plans that are given as a list of dicts, a table, or columns."""
    table = {**_as_table(plans), **columns}
    if not table:
        _core.fail(
            "", "plans", "nothing is priced", "give a list of dicts, or columns such as tensor=[4, 8]"
        )
    import numpy

    words = set(_core.word_keys())
    table = {**_pinned(question), **table}
    arrays = {key: numpy.atleast_1d(numpy.asarray(values)) for key, values in table.items()}
    length = max(len(array) for array in arrays.values())
    numbers: list[tuple[str, Any]] = []
    coded: list[tuple[str, tuple[Any, list[str]]]] = []
    for key, array in arrays.items():
        if len(array) == 1:
            array = numpy.repeat(array, length)
        if key in words:
            values, codes = numpy.unique(_words(array), return_inverse=True)
            coded.append((key, (codes.astype(numpy.int64), [str(value) for value in values])))
        else:
            numbers.append((key, _numbers(key, array)))
    given = {key: numpy.repeat(a, length) if len(a) == 1 else a for key, a in arrays.items()}
    return Prices(_core.price_columns(question, numbers, coded), given)


def _pinned(question: _core.Question) -> dict[str, Any]:
    """Choices of which the question leaves one value."""
    found: dict[str, Any] = {}
    asked = question.asked
    for key in _core.number_keys():
        text = asked.get(key.replace("_", "-"), "")
        if text in ("on", "off"):
            found[key] = int(text == "on")
        elif text.isdigit() and key not in ("global_batch", "sequence"):
            found[key] = int(text)
    for key in _core.word_keys():
        text = asked.get(key.replace("_", "-"), "")
        if text and not set(text) & set(",:") and key not in ("precision", "optimizer"):
            found[key] = text
    return found


def _as_table(plans: object) -> dict[str, Any]:
    if plans is None:
        return {}
    if isinstance(plans, Mapping):
        return dict(plans)
    if hasattr(plans, "columns") and hasattr(plans, "to_dict"):  # a DataFrame
        return {str(key): plans[key].to_numpy() for key in plans.columns}  # type: ignore[index]
    if not isinstance(plans, Sequence) or not all(isinstance(plan, Mapping) for plan in plans):
        _core.fail("", "plans", "a list of dicts, a table or columns are expected")
    # In the order in which they first occur.
    keys = list(dict.fromkeys(key for plan in plans for key in plan))
    words = set(_core.word_keys())
    return {key: [plan.get(key, "" if key in words else None) for plan in plans] for key in keys}


def _words(array: Any) -> Any:
    import numpy

    return numpy.array(["" if word is None or word != word else str(word) for word in array])


# Keys whose 0 says something: what is left out of a row is open.
_WITH_ZERO = frozenset({"zero", "sequence_parallel", "expert_overlap", "first_stage_first"})


def _numbers(key: str, array: Any) -> Any:
    import numpy

    if array.dtype.kind in "iub":
        return numpy.ascontiguousarray(array, dtype=numpy.int64)
    if array.dtype.kind == "O":
        missing = -1 if key in _WITH_ZERO else 0
        array = numpy.array([missing if value is None or value != value else value for value in array])
        if array.dtype.kind in "iub":
            return numpy.ascontiguousarray(array, dtype=numpy.int64)
    if array.dtype.kind == "f":
        filled = numpy.where(numpy.isnan(array), -1 if key in _WITH_ZERO else 0, array)
        if (filled == numpy.floor(filled)).all():
            return numpy.ascontiguousarray(filled, dtype=numpy.int64)
    _core.fail("", key, "whole numbers are expected")
