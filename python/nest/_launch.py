"""Launch files of frameworks: as plans, and whether they stay within a budget."""

from __future__ import annotations

import os
from typing import Any

from . import _core
from ._plan import Plan
from ._results import Check


def read_launch(file: str | os.PathLike[str], *, kind: str = "", **given: Any) -> Plan:
    """A launch file of Megatron-LM, torchtitan, DeepSpeed or Accelerate as a plan, with its price.

    Args:
        file: an argument file or a script, a TOML, JSON or YAML file; or a plan.
        kind: megatron, torchtitan, deepspeed or accelerate; without it, what the file shows.
        given: what the file does not say, by the options of `nest import`: model, cluster, recipe,
            devices, ranks, global_batch, micro_batch, sequence, precision, tensor, context, expert,
            pipeline, recompute, calibration.
    """
    sizes = {name: os.fspath(v) if isinstance(v, os.PathLike) else v for name, v in given.items()}
    known = {
        "model", "cluster", "recipe", "devices", "ranks", "global_batch", "micro_batch", "sequence",
        "precision", "tensor", "context", "expert", "pipeline", "recompute", "calibration",
    }  # fmt: skip
    for name in sizes:
        if name not in known:
            _core.fail("", name, "there is no such option", f"there are {', '.join(sorted(known))}")
    return Plan(_core.read_launch(os.fspath(file), kind, sizes))


def check(
    source: str | os.PathLike[str] | Plan, budget: str = "memory=100%", *, kind: str = "", **given: Any
) -> Check:
    """Whether a launch file or a plan stays within a budget: a guard for a repository's tests.

    Args:
        source: a launch file, a plan file, or a plan.
        budget: memory=95% of a device or memory=70GiB, step=9.5s, tokens-per-s=500000, mfu=40%; several
            with commas between them.
        kind: as `nest.read_launch` takes it; so is what is given.
        given: as above.

    Examples:
        >>> import nest
        >>> plan = nest.Question(model="gpt2", devices=8, global_batch=64).plan(zero=1)
        >>> assert nest.check(plan, "memory=95%")
        >>> nest.check(plan, "mfu=99%").within
        False
    """
    plan = source if isinstance(source, Plan) else read_launch(source, kind=kind, **given)
    return plan.check(budget)
