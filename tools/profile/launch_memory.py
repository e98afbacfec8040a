"""Section memory: what the device has in use beside torch's allocator, stage by stage: the context,
libraries, and NCCL's groups of one member."""
import os
import subprocess
import tempfile

import torch
from torch import distributed

COLLECTOR_OFF = False
GROUPS = (2, 4)  # further groups, added one set after the other


def smi_used(c):
    """MiB that nvidia-smi calls used, or None."""
    if not c.cuda:
        return None
    try:
        found = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"],
                               capture_output=True, text=True, timeout=20, check=True).stdout
        return float(found.split()[0])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None


def stage(c, name, work):
    def measured():
        work()
        c.synchronize()
        return {"smi_used_mib": smi_used(c), **c.memory()}
    c.attempt({"stage": name}, measured, 1)


def products(c):
    a = c.randn(1024, 1024, grad=True)
    (a @ a).sum().backward()


def attention(c):
    q = c.randn(1, 8, 512, 64, grad=True)
    torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True).sum().backward()


def reduce_in(c, group, elements):
    x = c.randn(elements)
    distributed.all_reduce(x, group=group)


def measure(c):
    stage(c, "context", lambda: c.randn(16))
    stage(c, "products", lambda: products(c))
    stage(c, "attention", lambda: attention(c))
    with tempfile.TemporaryDirectory() as folder:
        place = "file://" + os.path.join(folder, "members")
        backend = "nccl" if c.cuda else "gloo"
        stage(c, "process_group", lambda: distributed.init_process_group(
            backend, init_method=place, rank=0, world_size=1))
        stage(c, "first_all_reduce", lambda: reduce_in(c, None, 16))
        stage(c, "large_all_reduce", lambda: reduce_in(c, None, 1 << (10 if c.tiny else 25)))
        for count in GROUPS:
            def add():
                for _ in range(count):
                    reduce_in(c, distributed.new_group([0]), 1 << 10)
            stage(c, f"{count}_more_groups", add)
        c.clean()
        stage(c, "after_empty_cache", lambda: None)
        if distributed.is_initialized():
            distributed.destroy_process_group()
        stage(c, "groups_destroyed", lambda: None)
