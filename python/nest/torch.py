"""Plans as meshes of PyTorch: `nest.torch.device_mesh(plan)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from . import _core
from ._plan import Plan

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh

DIMENSIONS = ("pp", "dp_replicate", "dp_shard", "cp", "tp")
"""Dimensions of a dense mesh, outermost first: stages, copies of shards, shards, context and tensor ranks."""

EXPERT_DIMENSIONS = ("pp", "edp", "ep", "etp")
"""Dimensions of a mesh of experts: stages, copies of an expert, groups of experts, ranks of one expert."""


def rank_mesh(plan: Plan, *, experts: bool = False) -> numpy.ndarray:
    """The ranks of a plan as an array with the dimensions of `DIMENSIONS`, or of `EXPERT_DIMENSIONS`.

    Rank r runs on the r-th of the devices that the plan uses, in the order of their numbers.

    Examples:
        >>> import nest.torch
        >>> q = nest.Question(model="llama3.1-8b", devices=16, global_batch=64)
        >>> plan = q.plan(tensor=2, pipeline=2, zero=1)
        >>> mesh = nest.torch.rank_mesh(plan)
        >>> mesh.shape, mesh[0, 0, 0, 0].tolist()
        ((2, 1, 4, 1, 2), [8, 9])
    """
    cells = numpy.array(plan.devices())  # stage, copy, device of the cell
    used = numpy.unique(cells)
    ranks = numpy.searchsorted(used, cells)
    p = plan.parallelism
    stages, copies, cell = ranks.shape
    if experts:
        expert, etp = int(p["expert"]), int(p["expert_tensor"])
        mesh = ranks.reshape(stages, copies, cell // (expert * etp), expert, etp)
        return mesh.reshape(stages, -1, expert, etp)
    tensor, context = int(p["tensor"]), int(p["context"])
    # Device j of a cell is tensor + t * (context + c * side).
    mesh = ranks.reshape(stages, -1, context, tensor)
    shard = _shard(plan, mesh.shape[1])
    return mesh.reshape(stages, -1, shard, context, tensor)


def _shard(plan: Plan, data: int) -> int:
    """Data ranks that share one set of ZeRO's shards."""
    if plan.zero == 0:
        return 1
    context = plan.context
    if plan.zero_shards % context != 0 or data % (plan.zero_shards // context) != 0:
        _core.fail(
            "",
            "plan",
            f"ZeRO over {plan.zero_shards} ranks is no dimension of a mesh with {data} data and {context} "
            "context ranks",
        )
    return plan.zero_shards // context


def device_mesh(plan: Plan, device_type: str = "cuda", *, experts: bool = False) -> DeviceMesh:
    """A DeviceMesh of torch with the ranks where the plan has them.

    Every rank of the run calls it once torch.distributed is initialised; there are as many ranks as the
    plan uses devices. `mesh["tp"]`, `mesh["pp"]` and so on are the groups of this rank.

    Args:
        plan: the plan that runs.
        device_type: as for torch.
        experts: the mesh of expert groups in place of the dense one.
    """
    from torch import distributed
    from torch.distributed.device_mesh import DeviceMesh

    mesh = rank_mesh(plan, experts=experts)
    world = distributed.get_world_size() if distributed.is_initialized() else mesh.size
    if world != mesh.size:
        _core.fail("", "plan", f"it runs on {mesh.size:,} devices, and there are {world:,} ranks")
    names = EXPERT_DIMENSIONS if experts else DIMENSIONS
    return DeviceMesh(device_type, mesh.tolist(), mesh_dim_names=names)
