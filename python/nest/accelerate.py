"""Plans for Accelerate: `nest.accelerate.parallelism_config(plan)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from . import _core
from ._plan import Plan

if TYPE_CHECKING:
    from accelerate import ParallelismConfig

_SIZE = re.compile(r"^ *parallelism_config_(\w+_size): (\d+)$", re.MULTILINE)
_BACKEND = re.compile(r"^ *parallelism_config_(\w+_backend): (\w+)$", re.MULTILINE)


def sizes(plan: Plan) -> dict[str, int]:
    """The sizes of Accelerate's `ParallelismConfig` for a plan, as `nest export --to accelerate` writes them.

    A plan that Accelerate cannot run is a `nest.InputError` with the rule that it breaks.

    Examples:
        >>> import nest.accelerate
        >>> q = nest.Question(model="llama3.1-8b", devices=16, global_batch=64, for_="accelerate")
        >>> nest.accelerate.sizes(q.solve().plan)["dp_shard_size"]
        16
    """
    return _sizes(_settings(plan))


def parallelism_config(plan: Plan) -> ParallelismConfig:
    """The `ParallelismConfig` with which `Accelerator` and the Trainer run the plan."""
    from accelerate import ParallelismConfig

    text = _settings(plan)
    backends: dict[str, Any] = dict(_BACKEND.findall(text))
    return ParallelismConfig(**_sizes(text), **backends)


def _settings(plan: Plan) -> str:
    return plan.export("accelerate").text("accelerate.yaml")


def _sizes(text: str) -> dict[str, int]:
    found = {name: int(size) for name, size in _SIZE.findall(text)}
    if not found:
        how = "by DeepSpeed" if "deepspeed_config:" in text else "as plain copies"
        _core.fail(
            "",
            "plan",
            f"Accelerate runs this plan {how}, without a ParallelismConfig",
            "plan.export('accelerate', folder) writes the files for that",
        )
    return found
