"""Plans for Accelerate: `nest.accelerate.parallelism_config(plan)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import _core
from ._plan import Plan

if TYPE_CHECKING:
    from accelerate import ParallelismConfig

_LINE = re.compile(r"^ *parallelism_config_(\w+_size): (\d+)$", re.MULTILINE)


def sizes(plan: Plan) -> dict[str, int]:
    """The sizes of Accelerate's `ParallelismConfig` for a plan, as `nest export --to accelerate` writes them.

    A plan that Accelerate cannot run is a `nest.InputError` with the rule that it breaks.

    Example:
        >>> import nest.accelerate
        >>> q = nest.Question(model="llama3.1-8b", devices=16, global_batch=64, for_="accelerate")
        >>> nest.accelerate.sizes(q.solve().plan)["dp_shard_size"]
        16
    """
    found = {name: int(size) for name, size in _LINE.findall(plan.export("accelerate").text("accelerate.yaml"))}
    if not found:
        _core.fail(
            "",
            "plan",
            "Accelerate runs this plan by DeepSpeed, without a ParallelismConfig",
            "plan.export('accelerate', folder) writes the files for that",
        )
    return found


def parallelism_config(plan: Plan) -> ParallelismConfig:
    """The `ParallelismConfig` with which `Accelerator` and the Trainer run the plan."""
    from accelerate import ParallelismConfig

    return ParallelismConfig(**sizes(plan))
