"""Section layers: small layers eager, compiled and captured; times first, then kernel counts of the same."""
import copy
import time

import torch

import launch_blocks as blocks

COLLECTOR_OFF = True


def cases(tiny):
    """(key, constructor's arguments, seconds that compiling may take), the most important first."""
    if tiny:
        return [({"layer": "router", "tokens": 64}, blocks.Router, (64, 32, 16), 1),
                ({"layer": "experts_grouped", "tokens": 32}, blocks.GroupedExperts, (32, 64, 32, 16), 1),
                ({"layer": "experts_loop", "tokens": 32}, blocks.LoopedExperts, (32, 64, 32, 16), 1),
                ({"layer": "experts_loop_even", "tokens": 32}, Even, (32, 64, 32, 16), 1),
                ({"layer": "dense", "sequence": 32}, blocks.DenseLayer, (32, 64, 128, 4), 1)]

    def router(hidden, experts):
        key = {"layer": "router", "tokens": 4096, "hidden": hidden, "experts": experts}
        return key, blocks.Router, (4096, hidden, experts), 6

    def experts(name, made, tokens, cost):
        key = {"layer": name, "tokens": tokens, "hidden": 2048, "ffn": 768, "experts": 128, "top_k": 8}
        return key, made, (tokens, 2048, 768, 128), cost

    def dense(sequence):
        key = {"layer": "dense", "sequence": sequence, "hidden": 1024, "ffn": 4096}
        return key, blocks.DenseLayer, (sequence,), 8

    grouped, loop = blocks.GroupedExperts, blocks.LoopedExperts
    return [dense(512), experts("experts_grouped", grouped, 4096, 10),
            experts("experts_loop", loop, 4096, 10), router(2048, 128), dense(2048),
            experts("experts_grouped", grouped, 1024, 10),
            experts("experts_grouped", grouped, 16384, 10), experts("experts_loop_even", Even, 4096, 10),
            router(7168, 256), experts("experts_loop", loop, 1024, 10),
            experts("experts_loop", loop, 16384, 10), router(2048, 256), router(7168, 128)]


class Even(blocks.LoopedExperts):
    def __init__(self, c, *sizes):
        super().__init__(c, *sizes, even=True)


def forward(block, run):
    return lambda: run(*block.leaves)


def both(block, run):
    """Forward and backward; gradients are dropped first, so that a captured iteration owns them."""
    def iteration():
        for leaf in block.leaves:
            leaf.grad = None
        run(*block.leaves).backward(block.gradient)
    return iteration


PASSES = {"forward": forward, "forward_and_backward": both}


def compiled(block):
    if isinstance(block, blocks.LoopedExperts):
        block = copy.copy(block)  # the eager one is still to be counted
        block.compile_expert()
        return block
    return torch.compile(block.__call__, dynamic=False)


def timed(c, block, run, make, key, cost, keep):
    """Wall time of an iteration, eager or compiled."""
    def measured():
        iteration = make(block, run)
        begun = time.perf_counter()
        iteration()
        c.synchronize()
        first = time.perf_counter() - begun
        fields = c.wall_time(iteration)
        keep.append((key, iteration))
        return {**fields, "first_s": first}
    return c.attempt(key, measured, cost)


def captured(c, block, make, key, keep):
    def measured():
        graph = c.capture(make(block, block))
        fields = c.wall_time(graph.replay)
        keep.append((key, graph.replay))
        return fields
    return c.attempt(key, measured, 2)


def measure_case(c, case, keep):
    """Eager and captured times; the block itself, or None where it could not be made."""
    key, constructor, sizes, _ = case
    made = []
    if not c.attempt({**key, "part": "build"}, lambda: made.append(constructor(c, *sizes)), 2):
        return None
    block = made[0]
    for name, make in PASSES.items():
        timed(c, block, block, make, {**key, "pass": name, "mode": "eager"}, 1, keep)
    if not block.waits:
        capture_both(c, case, block, keep)
    return block


def capture_both(c, case, block, keep):
    for name, make in PASSES.items():
        captured(c, block, make, {**case[0], "pass": name, "mode": "captured"}, keep)


def measure_compiled(c, case, block, keep):
    key, _, _, cost = case
    run = compiled(block)
    for name, make in PASSES.items():
        timed(c, block, run, make, {**key, "pass": name, "mode": "compiled"}, cost, keep)


def measure(c):
    keep, made = [], []
    torch._dynamo.config.recompile_limit = 64  # the compiled functions of all cases stay alive
    for case in cases(c.tiny):
        block = measure_case(c, case, keep)
        if block:
            made.append((case, block))
    reserve = 0.2 * c.left()  # for the counts, which come last: see launch_issue
    for case, block in made:
        if c.left() > reserve + case[3]:
            measure_compiled(c, case, block, keep)
        else:
            c.row({**case[0], "mode": "compiled"}, skipped="no time was left")
    count(c, keep)
    for case, block in made:
        if block.waits:  # the capture will fail, and what a failed capture leaves behind is uncertain
            capture_both(c, case, block, [])


def count(c, keep):
    for key, iteration in keep:
        if c.left() > 1:
            try:
                c.row(key, **c.profile(iteration))
            except Exception as error:  # the times of this row stand
                c.row(key, count_error=str(error)[:200])
