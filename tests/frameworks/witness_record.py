"""Records every collective and message of what runs inside: kind, axis, members, bytes.

Bytes are counted as docs/collectives.md does: the input of an all-reduce, a reduce-scatter and an
all-to-all, the output of an all-gather, the message of a send.
"""

import torch
import torch.distributed as dist
from torch.utils._python_dispatch import TorchDispatchMode

KINDS = {
    "_c10d_functional.all_gather_into_tensor": "all_gather",
    "_c10d_functional.reduce_scatter_tensor": "reduce_scatter",
    "_c10d_functional.all_reduce": "all_reduce",
    "_c10d_functional.all_to_all_single": "all_to_all",
    "c10d._allgather_base_": "all_gather",
    "c10d._reduce_scatter_base_": "reduce_scatter",
    "c10d.allreduce_": "all_reduce",
    "c10d.alltoall_base_": "all_to_all",
    "c10d.send": "send",
}
IGNORED = {"_c10d_functional.wait_tensor", "c10d.recv_", "c10d.barrier"}


def bytes_of(value):
    if isinstance(value, (list, tuple)):
        return sum(bytes_of(v) for v in value)
    return value.numel() * value.element_size()


class Recorder(TorchDispatchMode):
    def __init__(self, meshes):
        super().__init__()
        self.axes, self.exchanges, self.calls = meshes.axes, meshes.exchanges, []

    def __torch_dispatch__(self, function, types, arguments=(), named=None):
        out = function(*arguments, **(named or {}))
        space = function.namespace
        if space in ("c10d", "_c10d_functional"):
            self.add(f"{space}.{function._opname}", arguments, out)
        return out

    def add(self, name, arguments, out):
        if name in IGNORED:
            return
        kind = KINDS[name]  # one that is not in the table must not go unnoticed
        functional = name.startswith("_c10d_functional")
        if functional:
            value = out if kind == "all_gather" else arguments[0]
            group = next(a for a in reversed(arguments) if isinstance(a, str))
        else:
            value = arguments[1] if kind == "reduce_scatter" else arguments[0]
            boxed = next(a for a in arguments if isinstance(a, torch.ScriptObject) and is_group(a))
            group = dist.ProcessGroup.unbox(boxed).group_name
        size = dist.distributed_c10d._resolve_process_group(group).size()
        if kind == "send":
            self.calls.append((kind, "pipeline", 2, bytes_of(value)))
        elif size > 1:
            axes = self.exchanges if kind == "all_to_all" else self.axes
            self.calls.append((kind, axes[group], size, bytes_of(value)))


def is_group(boxed):
    try:
        dist.ProcessGroup.unbox(boxed)
    except (RuntimeError, ValueError):
        return False
    return True
