"""Questions: what is to be planned, on what, and what is asked of the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _core
from ._answer import Answer
from ._inputs import as_cluster, as_model, as_options, as_recipe
from ._plan import Plan
from ._price import Prices, price_columns
from ._progress import Wish, listening

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import Options
    from ._strategy import Strategy


class Question:
    """A model on a cluster, and what is asked of its plan.

    Questions are checked when they are made, never change, may be used from many threads and can be pickled.

    Args:
        model: a name ("llama3.1-70b", also as on the Hub), a file (config.json or a layer profile), a
            dict with such keys, a configuration of transformers, or a module of torch that has one.
            Default: llama3.1-70b.
        cluster: a name, a file, or a dict with the keys of a cluster file. Default: h100-spine-leaf.
        recipe: a name (megatron, torchtitan, deepspeed, ..), a file, or a dict. Default: megatron.
        like: reads a config.json by the keys of this model type.
        calibration: what `nest.calibrate` learnt: a `Calibration`, a file, or a dict.
        strategies: sub-graph strategies of one's own (`nest.Strategy`).
        options: the options of `nest plan`, with _ for -: `devices=64`, `tensor=8`, `zero=[1, 3]`,
            `pipeline="2..16"`, `for_="megatron"`, `time_limit=60`, .. `nest.options()` describes all of them.

    Examples:
        >>> import nest
        >>> q = nest.Question(model="llama3.1-8b", cluster="h100-spine-leaf", devices=64, global_batch=512)
        >>> q
        <nest.Question: llama3.1-8b on 64 devices of h100-spine-leaf, global-batch 512>
        >>> a = q.solve(time_limit=60)
        >>> a.status, a.plan.tensor, a.plan.pipeline
        ('optimal', 1, 1)
    """

    def __init__(
        self,
        model: object = None,
        cluster: object = None,
        recipe: object = None,
        *,
        like: str = "",
        calibration: object = None,
        strategies: Sequence[Strategy] = (),
        **options: Unpack[Options],
    ) -> None:
        self._strategies = tuple(strategies)
        self._core = _core.question(
            as_model(model),
            as_cluster(cluster),
            as_recipe(recipe),
            like,
            calibration.to_dict() if hasattr(calibration, "to_dict") else calibration,
            [strategy._core for strategy in strategies],
            as_options(dict(options)),
        )

    @classmethod
    def _of(cls, core: _core.Question, strategies: Sequence[Strategy] = ()) -> Question:
        made = cls.__new__(cls)
        made._core = core
        made._strategies = tuple(strategies)
        return made

    @property
    def model(self) -> str:
        """The model's name."""
        return self._core.model

    @property
    def cluster(self) -> str:
        """The cluster's name."""
        return self._core.cluster

    @property
    def devices(self) -> int:
        """Devices that a plan may use."""
        return self._core.devices

    @property
    def options(self) -> dict[str, str]:
        """What is asked, as the options of `nest plan`."""
        return self._core.asked

    @property
    def inputs(self) -> dict[str, Any]:
        """Model, cluster and recipe, from which the question can be made again."""
        return self._core.inputs

    @property
    def warnings(self) -> list[str]:
        """What should be known of the inputs, a sentence each."""
        return self._core.warnings

    def to_dict(self) -> dict[str, Any]:
        """Everything that the answer depends on: equal questions have equal values."""
        return self._core.value

    def but(self, **options: Unpack[Options]) -> Question:
        """The same question with other options besides or in place of its own.

        Examples:
            >>> import nest
            >>> q = nest.Question(model="gpt2", devices=8)
            >>> q.but(devices=16, tensor=2).options
            {'devices': '16', 'tensor': '2'}
        """
        return Question._of(self._core.change(as_options(dict(options))), self._strategies)

    def solve(self, *, progress: Wish = None, advise: bool = True, **options: Unpack[Options]) -> Answer:
        """Searches for the best plan, and proves that there is no better one.

        Other threads run meanwhile. Ctrl-C ends the search.

        Args:
            progress: True shows how far the search is, by tqdm or rich where they are installed; a
                callable gets a `nest.Progress` now and then.
            advise: where nothing fits, search for changes that would help.
            options: further options for this search, such as `time_limit=5`.
        """
        core = self.but(**options)._core if options else self._core
        with listening(progress) as listener:
            return Answer(_core.solve(core, advise, listener))

    def plan(self, degrees: Mapping[str, Any] | None = None, /, **keywords: Any) -> Plan:
        """A plan of one's own for the question's training, completed and priced; no search.

        Args:
            degrees: a dict with the keys of a plan file ("training", "parallelism", "stages"), or with
                degrees alone.
            keywords: degrees and sizes: `tensor=8, pipeline=4, zero=1, micro_batch=2,
                recompute="full"`. What is left open is the question's where it leaves one value, else
                the default. Where `data` is open, copies fill the question's devices.
        """
        given = {**(degrees or {}), **keywords}
        if any(key in given for key in ("parallelism", "stages", "training")):
            return Plan(_core.plan_of(self._core, given))
        prices = price_columns(
            self._core, None, {key: [value] for key, value in given.items()} or {"tensor": [0]}
        )
        return prices.plan(0)

    def price(self, plans: object = None, /, **columns: Any) -> Prices:
        """Prices many plans at once, with what they have in common worked out once.

        Args:
            plans: a list of dicts of degrees, a DataFrame, or a dict of columns.
            columns: arrays, lists or single values by the names of degrees: `tensor=[4, 8], zero=1`.
                What is left open is as for `plan`.

        Examples:
            >>> import nest
            >>> q = nest.Question(model="llama3.1-8b", devices=16, global_batch=64)
            >>> prices = q.price([{"tensor": 2}, {"tensor": 4, "pipeline": 2}, {"tensor": 3, "data": 4}])
            >>> prices.status
            ['infeasible', 'feasible', 'invalid']
            >>> prices.best(), prices.reasons[2]
            (1, 'tensor 3 does not divide the 32 attention heads of layer')
        """
        return price_columns(self._core, plans, columns)

    def __repr__(self) -> str:
        asked = "".join(f", {name} {text}" for name, text in self.options.items() if name != "devices")
        return f"<nest.Question: {self.model} on {self.devices:,} devices of {self.cluster}{asked}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Question) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __reduce__(self) -> tuple[Any, ...]:
        if self._strategies:
            _core.fail("", "strategies", "questions with strategies of one's own cannot be pickled")
        return _restore_question, (self.inputs, self.options)


def _restore_question(inputs: dict[str, Any], options: dict[str, str]) -> Question:
    return Question._of(_core.restore_question(inputs, options))


def options() -> dict[str, str]:
    """The options of questions with what they mean, from the library's own table.

    Examples:
        >>> import nest
        >>> print(nest.options()["devices"])
        N: use N devices: this changes the size of the cluster's outermost level
    """
    return {
        field["name"]: (f"{field['argument']}: " if field["argument"] else "") + field["text"]
        for field in _core.option_fields()
    }
