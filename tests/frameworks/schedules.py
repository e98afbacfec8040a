"""Compares the task orders of schedules whose chunks lie in the shape of a V, rank by rank, with those of
torch's own classes. Ours are read from the trace of a simulated step, in which tasks are told apart by their
lengths: no table of ours says what torch does.

    schedules.py --nest PROGRAM     the last line is "N passed, N failed"
"""

import argparse
import json
import os
import sys
import tempfile
import warnings

warnings.filterwarnings("ignore")

from torch.distributed.pipelining import schedules as torch_schedules  # noqa: E402

from random_plans import run  # noqa: E402

CLASSES = {"zb-v": torch_schedules.ScheduleZBVZeroBubble, "dualpipe-v": torch_schedules.ScheduleDualPipeV}
# Milliseconds of a part's layer: half of its backward pass makes weight gradients.
FORWARD, BACKWARD = 3, 4
KINDS = {("forward", FORWARD): "F", ("backward", BACKWARD): "B", ("backward", BACKWARD / 2): "I",
         ("weight", BACKWARD / 2): "W"}


def theirs(schedule, stages, micro_batches):
    """The orders without torch's process groups: the class needs nothing else for them."""
    made = CLASSES[schedule].__new__(CLASSES[schedule])
    made.pp_group_size, made.num_stages, made._num_stages = stages, 2 * stages, 2 * stages
    made._n_microbatches = micro_batches
    return [[str(task) for task in made._calculate_single_rank_operations(rank) if task is not None]
            for rank in range(stages)]


def plan(folder, schedule, stages, micro_batches):
    layers = [{"id": i, "name": f"layer{i}", "forward_s": f"{FORWARD} ms", "backward_s": f"{BACKWARD} ms",
               "parameter_bytes": 2, "activation_bytes": 2} for i in range(2 * stages)]
    edges = [{"from": i, "to": i + 1, "bytes": 0} for i in range(2 * stages - 1)]
    files = {
        "layers.json": {"format": "nest-layer-profile", "version": 1, "name": "layers", "micro_batch": 1,
                        "sequence": 512, "parameter_dtype_bytes": 2,
                        "strategies": [{"tensor": 1, "layers": layers, "edges": edges}]},
        "cluster.json": {"name": "row", "accelerator": "h100-sxm",
                         "levels": [{"name": "node", "kind": "switch", "size": stages,
                                     "bandwidth": "100 GB/s", "latency": "1 us"}]},
        "plan.json": {"inputs": {"model": os.path.join(folder, "layers.json"),
                                 "cluster": os.path.join(folder, "cluster.json"), "recipe": "plain"},
                      "training": {"global_batch": micro_batches},
                      "parallelism": {"pipeline": stages, "schedule": schedule}}}
    for name, content in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump(content, file)
    return os.path.join(folder, "plan.json")


def task_name(event, stages):
    """A slice of the trace as torch spells tasks, and whether it is one of two beside each other."""
    micro_batch, chunk = event["name"][1:].split(".")
    rank = event["tid"] // 2
    part = rank if chunk == "0" else 2 * stages - 1 - rank
    length = event["dur"] / 1000
    pair = length == FORWARD + BACKWARD
    kind = ("F" if event["cat"] == "forward" else "B") if pair else KINDS[event["cat"], length]
    return f"{part}{kind}{micro_batch}", pair


def ours(nest, schedule, stages, micro_batches):
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.json")
        done = run([nest, "simulate", plan(folder, schedule, stages, micro_batches), "--trace", trace])
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        with open(trace, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    orders = [[] for _ in range(stages)]
    slices = [e for e in events if e["ph"] == "X" and e["tid"] % 2 == 0 and
              e["cat"] in ("forward", "backward", "weight")]
    first = None
    for event in sorted(slices, key=lambda e: (e["tid"], e["ts"], e["cat"] != "forward")):
        name, pair = task_name(event, stages)
        if not pair:
            orders[event["tid"] // 2].append(name)
        elif first is None:
            first = name
        else:
            orders[event["tid"] // 2].append(f"({first};{name})OVERLAP_F_B")
            first = None
    return orders


def shapes():
    for stages in (2, 3, 4, 5, 8, 16):
        for micro_batches in (2 * stages, 2 * stages + 1, 3 * stages + 1, 5 * stages + 2, 8 * stages):
            for schedule in CLASSES:
                yield schedule, stages, micro_batches
        for micro_batches in (1, stages, 2 * stages - 1):
            yield "zb-v", stages, micro_batches


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nest", default="build/nest")
    options = parser.parse_args()
    passed = failed = 0
    for schedule, stages, micro_batches in shapes():
        own = ours(options.nest, schedule, stages, micro_batches)
        other = theirs(schedule, stages, micro_batches)
        passed, failed = passed + (own == other), failed + (own != other)
        if own == other:
            continue
        print(f"{schedule}, {stages} stages, {micro_batches} micro-batches:")
        for rank, (a, b) in enumerate(zip(own, other)):
            if a != b:
                print(f"  rank {rank}: ours {' '.join(a)}\n  torch's {' '.join(b)}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
