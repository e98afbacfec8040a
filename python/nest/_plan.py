"""Plans: complete choices of a training run with what they are for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

from . import _core
from ._inputs import as_cluster, as_model, as_recipe
from ._price import Price
from ._progress import Wish, listening
from ._results import Check, Difference, Explanation, Export
from ._simulation import Simulation
from ._views import VIEWS, Report

T = TypeVar("T")


class _Key(Generic[T]):
    """A key of a group of the plan's JSON as an attribute."""

    def __init__(self, group: str, key: str) -> None:
        self.group = group
        self.key = key

    @overload
    def __get__(self, plan: None, owner: type) -> _Key[T]: ...
    @overload
    def __get__(self, plan: Plan, owner: type) -> T: ...
    def __get__(self, plan: Plan | None, owner: type) -> _Key[T] | T:
        if plan is None:
            return self
        found: T = plan._value()[self.group][self.key]
        return found


class Plan:
    """Every choice of a training run, and what it is for.

    Plans come from `Answer.plan`, `Question.plan`, `nest.load_plan` and `nest.read_launch`. They never
    change, may be used from many threads, and can be pickled.

    Examples:
        >>> import nest
        >>> q = nest.Question(model="llama3.1-8b", devices=16, global_batch=64)
        >>> plan = q.plan(tensor=2, zero=1)
        >>> plan.tensor, plan.data, plan.micro_batches
        (2, 8, 8)
        >>> plan
        <nest.Plan of llama3.1-8b on h100-spine-leaf: tensor 2, sequence parallel, pipeline 1, data 8, ZeRO 1>
    """

    tensor = _Key[int]("parallelism", "tensor")
    """Devices that share each layer's tensors."""
    sequence_parallel = _Key[bool]("parallelism", "sequence_parallel")
    """Whether tensor ranks share the sequence where tensors are whole."""
    context = _Key[int]("parallelism", "context")
    """Devices that share a sequence."""
    expert = _Key[int]("parallelism", "expert")
    """Devices that share the experts of a layer."""
    expert_tensor = _Key[int]("parallelism", "expert_tensor")
    """Devices that share one expert."""
    pipeline = _Key[int]("parallelism", "pipeline")
    """Stages of the pipeline."""
    interleave = _Key[int]("parallelism", "interleave")
    """Chunks of a stage."""
    schedule = _Key[str]("parallelism", "schedule")
    """The pipeline's schedule: `1f1b`, `interleaved`, `zb-h1`, .."""
    data = _Key[int]("parallelism", "data")
    """Copies of the model, as Megatron-LM counts them."""
    zero = _Key[int]("parallelism", "zero")
    """What ranks with the same parameters share: ZeRO 0 to 3."""
    zero_shards = _Key[int]("parallelism", "zero_shards")
    """Ranks that ZeRO shards over."""
    recompute = _Key[str]("parallelism", "recompute")
    """What backward passes compute again: `none`, `selective`, `full` or `mixed`."""
    micro_batch = _Key[int]("training", "micro_batch")
    """Sequences of one micro-batch."""
    micro_batches = _Key[int]("training", "micro_batches")
    """Micro-batches of one copy in a step."""
    global_batch = _Key[int]("training", "global_batch")
    """Sequences of a step."""
    sequence = _Key[int]("training", "sequence")
    """Tokens of a sequence."""
    precision = _Key[str]("training", "precision")
    """Of the matrix products: `bf16`, `fp8`, .."""

    def __init__(self, core: _core.Plan) -> None:
        self._core = core
        self._dict: dict[str, Any] | None = None

    def _value(self) -> dict[str, Any]:
        if self._dict is None:
            self._dict = self._core.value()
        return self._dict

    @property
    def status(self) -> str:
        """`optimal` or `feasible` where it fits, `infeasible` where it does not; empty where it has no
        price."""
        return str(self._value().get("status", ""))

    @property
    def step(self) -> float:
        """Seconds of a step as predicted."""
        predicted = self._value().get("predicted")
        return float(predicted["step_s"]) if predicted else self.price().step

    @property
    def parallelism(self) -> dict[str, Any]:
        """All degrees, by the keys of plan files."""
        return dict(self._value()["parallelism"])

    @property
    def training(self) -> dict[str, Any]:
        """Batch, sequence, precision and optimizer."""
        return dict(self._value()["training"])

    @property
    def stages(self) -> list[dict[str, Any]]:
        """Layers, strategy, recomputation, devices, time and memory of each stage."""
        return list(self._value()["stages"])

    @property
    def model(self) -> str:
        """The model's name."""
        return str(self._value()["model"]["name"])

    @property
    def cluster(self) -> str:
        """The cluster's name."""
        return str(self._value()["cluster"]["name"])

    def devices(self) -> list[list[list[int]]]:
        """The devices of every stage and copy, in the order of their cell's ranks.

        Device j of a cell is tensor + t * (context + c * side), for t tensor and c context ranks.
        """
        return self._core.devices()

    def to_dict(self) -> dict[str, Any]:
        """The plan as its file has it (docs/formats/plan.md)."""
        return self._core.value()

    def to_json(self) -> str:
        """The text of its file."""
        return self._core.json() + "\n"

    def save(self, file: str | os.PathLike[str]) -> Path:
        """Writes the plan to a file that every command takes."""
        path = Path(file)
        path.write_text(self.to_json(), encoding="utf-8")
        return path

    def price(self) -> Price:
        """What a step takes and what every stage holds, by the closed formula.

        Examples:
            >>> import nest
            >>> plan = nest.Question(model="llama3.1-8b", devices=16, global_batch=64).plan(tensor=2, zero=1)
            >>> price = plan.price()
            >>> price.status, abs(sum(price.breakdown.values()) - price.step) < 1e-9
            ('feasible', True)
        """
        return Price(self._core.price())

    def simulate(self, *, all_devices: bool = False, timeline: bool = True) -> Simulation:
        """Runs a step of the plan event by event.

        Args:
            all_devices: simulate every copy, also those that are alike.
            timeline: keep what each worker does when; without it longer steps can be simulated.
        """
        return Simulation(*self._core.simulate(all_devices, timeline))

    def explain(
        self, *, search: bool = False, time_limit: float = 10, progress: Wish = None
    ) -> Explanation:
        """What binds the plan, and what a little more or less of everything would change.

        Args:
            search: also search for what more bandwidth, memory and devices would buy.
            time_limit: seconds of these searches, all together.
            progress: True, or a callback that gets a `Progress`.
        """
        found = self._core.explain()
        if search:
            with listening(progress) as listener:
                found.update(self._core.more_of(float(time_limit), listener))
        return Explanation(found)

    def diff(self, other: Plan) -> Difference:
        """What differs from another plan, in choices and in seconds."""
        return Difference(self._core.diff(other._core))

    def export(
        self,
        target: str,
        folder: str | os.PathLike[str] | None = None,
        *,
        force: bool = False,
        hosts: Sequence[str] = (),
        devices_per_host: int = 0,
    ) -> Export:
        """The files with which a framework or a launcher runs the plan.

        Args:
            target: `megatron`, `torchtitan`, `deepspeed`, ..; `megatron@core_v0.16` names a release.
                `nest.targets()` lists them.
            folder: where to write them; without it they are in `Export.files`.
            force: replace an earlier export in that folder.
            hosts: names of the hosts, in the order of the devices.
            devices_per_host: where the innermost level is not a host.
        """
        if folder is None:
            value, files = self._core.export_files(target, list(hosts), devices_per_host)
            return Export(value, files)
        value = self._core.export(target, os.fspath(folder), force, list(hosts), devices_per_host)
        return Export(value, None)

    def check(self, budget: str = "memory=100%") -> Check:
        """Whether the plan stays within budgets such as `memory=95%,step=10s`; see `nest.check`."""
        return Check(_core.check(self._core, budget))

    def report(self, *, title: str = "", sections: Sequence[str] = ()) -> Report:
        """The plan as one HTML page: placement, timeline, memory, traffic, and what would change it.

        Args:
            title: above the page.
            sections: some of it alone, such as `["placement", "memory"]`; all names are in
                `nest.report_sections()`.
        """
        return Report(self._core.report(self.to_json(), title, list(sections)))

    def report_data(self) -> dict[str, Any]:
        """The data of the report (docs/formats/report.md)."""
        return _core.report_data(self.to_json())

    def placement(self) -> Report:
        """Where every stage, copy and rank is."""
        return self._view("placement")

    def timeline(self) -> Report:
        """One simulated step, pass by pass."""
        return self._view("timeline")

    def memory(self) -> Report:
        """What a device of each stage holds, and over the step."""
        return self._view("memory")

    def _view(self, name: str) -> Report:
        return Report(self._core.report(self.to_json(), "", [name]), VIEWS[name])

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()

    def __repr__(self) -> str:
        return f"<nest.Plan of {self.model} on {self.cluster}: {self._core.spell()}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self._core.json() == other._core.json()

    def __hash__(self) -> int:
        return hash(self._core.json())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_plan, (self._core.json(),)


def _restore_plan(text: str) -> Plan:
    return Plan(_core.open_plan("plan", text, None))


def load_plan(
    source: str | os.PathLike[str] | dict[str, Any],
    *,
    model: object = None,
    cluster: object = None,
    recipe: object = None,
) -> Plan:
    """A plan file, or a dict like one.

    Args:
        source: a file or a dict; degrees alone are enough where the model is named.
        model: for a plan that does not say what it is for; so are cluster and recipe.
        cluster: as above.
        recipe: as above.

    Examples:
        >>> import nest
        >>> plan = nest.load_plan({"parallelism": {"data": 8}}, model="gpt2")
        >>> plan.data, plan.devices()[0][:2]
        (8, [[0], [1]])
    """
    given = None if model is None else (as_model(model), as_cluster(cluster), as_recipe(recipe))
    if isinstance(source, dict):
        return Plan(_core.open_plan("plan", source, given))
    name = os.fspath(source)
    return Plan(_core.open_plan(name, _core.read_file(name), given))
