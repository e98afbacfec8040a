"""Runs two steps of a plan on one rank of each stage, on fake tensors and a fake process group, and writes
what torch recorded in the second: calls, and the peak of memory by torch's own tracker.

    witness_rank.py CONFIG.json PLAN.json  >  {"stages": [{"calls": [...], "peak": BYTES, ...}]}
"""

import json
import multiprocessing
import sys

import torch
import torch.distributed as dist
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleInterleaved1F1B
from torch.testing._internal.distributed.fake_pg import FakeStore

from witness_cut import Meshes, cut
from witness_model import Stage
from witness_record import Recorder


def prepare(module, zero, last):
    """ZeRO 0 and 1 reduce after the last micro-batch, 2 and 3 after each; only 3 gives parameters back."""
    module.set_requires_gradient_sync(zero >= 2 or last)
    module.set_requires_all_reduce(last)  # over copies of shards: once a step
    module.set_reshard_after_backward(zero == 3 or last)


class OrderedStage(PipelineStage):
    """torch's stage, which writes down the order of its passes."""

    order = []

    def forward_one_chunk(self, *arguments, **named):
        self.order.append(("F", self.stage_index))
        return super().forward_one_chunk(*arguments, **named)

    def backward_one_chunk(self, *arguments, **named):
        self.order.append(("B", self.stage_index))
        return super().backward_one_chunk(*arguments, **named)


class StepTracker(MemTracker):
    """torch's tracker without its figures for modules, which it refuses to keep for several micro-batches."""

    def _pre_fw_hook(self, *_):
        pass

    _post_fw_hook = _pre_bw_hook = _post_bw_hook = _pre_fw_hook


class Rank:
    def __init__(self, config, plan, meshes, index):
        self.meshes, self.index = meshes, index
        t = plan["training"]
        self.positions = t["sequence"] // self.meshes.context
        self.rows, self.micro_batches = t["micro_batch"], t["micro_batches"]
        stage = plan["stages"][index]
        chunks = stage.get("chunks") or [stage["layers"]]
        self.modules = [cut(Stage(config, chunk, self.positions), plan, self.meshes) for chunk in chunks]
        parameters = [p for module in self.modules for p in module.parameters()]
        self.optimizer = torch.optim.AdamW(parameters, foreach=False)
        self.hidden = config["hidden_size"]

    def tokens(self, micro_batches=1):
        return torch.zeros(self.rows * micro_batches, self.positions, dtype=torch.long)

    def boundary(self):
        rows = self.positions // self.meshes.tensor
        return torch.zeros(self.rows, rows, self.hidden, dtype=torch.bfloat16)

    def alone(self):
        module = self.modules[0]
        for i in range(self.micro_batches):
            prepare(module, self.meshes.zero, i + 1 == self.micro_batches)
            module.targets = self.tokens()
            module(self.tokens()).backward()

    def pipelined(self):
        p, chunks = self.meshes.pipeline, len(self.modules)
        count = p * chunks
        group = self.meshes.all.get_group("pipeline")
        stages = []
        for chunk, module in enumerate(self.modules):
            place = chunk * p + self.index
            module.targets = self.tokens()
            first, last = place == 0, place + 1 == count
            inputs = self.tokens() if first else self.boundary().requires_grad_()
            outputs = torch.zeros(()) if last else self.boundary().requires_grad_()
            stages.append(OrderedStage(module, place, count, torch.device("cpu"), input_args=(inputs,),
                               output_args=(outputs,), input_grads=(None if first else self.boundary(),),
                               output_grads=(None if last else self.boundary(),), group=group))
        named = {"loss_fn": lambda out, target: out, "scale_grads": False}
        if chunks == 1:
            schedule = Schedule1F1B(stages[0], self.micro_batches, **named)
        else:
            schedule = ScheduleInterleaved1F1B(stages, self.micro_batches, **named)
        whole = self.tokens(self.micro_batches)
        self.step_schedule = lambda: schedule.step(*([whole] if stages[0].is_first else []),
                                                   target=whole, return_outputs=False)

    def step(self):
        if self.meshes.pipeline == 1:
            self.alone()
        else:
            self.step_schedule()
        self.optimizer.step()
        self.optimizer.zero_grad()


def run(config, plan, meshes, index):
    """The second step: the first one makes the optimizer's states. Leaving the tracker and entering it again
    makes it forget the first one's peak."""
    tracker, recorder = StepTracker(), Recorder(meshes)
    with tracker:
        rank = Rank(config, plan, meshes, index)
        if meshes.pipeline > 1:
            rank.pipelined()
        rank.step()
    OrderedStage.order.clear()
    with tracker, recorder:
        rank.step()
    snapshot = tracker.get_tracker_snapshot("peak")
    peak = next(parts for device, parts in snapshot.items() if device.type == "cpu")
    parts = {str(getattr(k, "value", k)): v for k, v in peak.items()}
    return {"calls": recorder.calls, "peak": max(parts.values()), "order": OrderedStage.order}


def witness_stage(config, plan, index):
    p = plan["parallelism"]
    cell = p["tensor"] * p["context"] * p["data"]
    dist.init_process_group("fake", rank=index * cell, world_size=p["pipeline"] * cell, store=FakeStore())
    meshes = Meshes(plan)  # outside of the fake mode, because they look at real ranks
    with FakeTensorMode(allow_non_fake_inputs=True):
        return run(config, plan, meshes, index)


def witness(config, plan):
    """A process for each stage: torch remembers the groups of an earlier world."""
    out = []
    for index in range(plan["parallelism"]["pipeline"]):
        with multiprocessing.get_context("fork").Pool(1) as pool:
            out.append(pool.apply(witness_stage, (config, plan, index)))
    return out


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        chosen_config = json.load(file)
    with open(sys.argv[2], encoding="utf-8") as file:
        chosen_plan = json.load(file)
    json.dump({"stages": witness(chosen_config, chosen_plan)}, sys.stdout)
