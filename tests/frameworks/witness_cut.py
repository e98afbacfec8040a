"""Cuts a stage of witness_model by torch's own means: tensor and sequence parallelism, context and expert
parallelism, FSDP2 as ZeRO 0 to 3."""

import torch
import torch.distributed._functional_collectives as collectives
from torch import nn
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.distributed._composable.replicate_with_fsdp import replicate
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.experimental._context_parallel import _attention as ring
from torch.distributed.tensor.parallel import (ColwiseParallel, PrepareModuleInput, RowwiseParallel,
                                               SequenceParallel, parallelize_module)


def _build_meshes_outside_of_fake_mode():
    # FSDP2 joins the meshes of data and tensor ranks, and looks its rank up with an operator that fake
    # tensors do not have.
    joined = DeviceMesh._concatenate

    def outside(*arguments, **named):
        with unset_fake_temporarily():
            return joined(*arguments, **named)

    DeviceMesh._concatenate = staticmethod(outside)


_build_meshes_outside_of_fake_mode()


class Meshes:
    """The groups of one rank, and the axis of each by the group's name."""

    def __init__(self, plan):
        p = plan["parallelism"]
        self.tensor, self.context, self.expert = p["tensor"], p["context"], p["expert"]
        self.pipeline, self.zero = p["pipeline"], p["zero"]
        ranks = p["data"] * p["context"]
        shards = p["zero_shards"] if self.zero else ranks
        sizes = (self.pipeline, ranks // shards, shards, self.tensor)
        self.all = init_device_mesh("cpu", sizes, mesh_dim_names=("pipeline", "copies", "shards", "tensor"))
        self.contexts = init_device_mesh("cpu", (self.pipeline * p["data"], self.context, self.tensor),
                                         mesh_dim_names=("rest", "context", "tensor"))
        experts = (self.pipeline, ranks // self.expert, self.expert * self.tensor)
        self.experts = init_device_mesh("cpu", experts, mesh_dim_names=("pipeline", "expert_data", "expert"))
        # Groups of the same ranks are one group for torch. Exchanges are never of data ranks.
        self.axes = {self.all.get_group(name).group_name: "data" for name in ("copies", "shards")}
        self.axes[self.experts.get_group("expert_data").group_name] = "data"
        self.axes[self.all.get_group("tensor").group_name] = "tensor"
        self.exchanges = {}
        for name, mesh in (("context", self.contexts), ("expert", self.experts)):
            if p[name] > 1:
                self.exchanges[mesh.get_group(name).group_name] = name

    def data(self):
        return self.all["copies", "shards"] if self.all["copies"].size() > 1 else self.all["shards"]


class TradedCore(nn.Module):
    """All-to-all context parallelism: from a share of the sequence to a share of the heads, and back."""

    def __init__(self, core, group):
        super().__init__()
        self.core, self.group, self.ranks = core, group, group.size()

    def trade(self, x, scatter, gather):
        parts = torch.cat(x.chunk(self.ranks, dim=scatter))
        moved = collectives.all_to_all_single_autograd(parts, None, None, self.group)
        return torch.cat(moved.chunk(self.ranks), dim=gather)

    def forward(self, q, k, v):
        q, k, v = (self.trade(x, 1, 2) for x in (q, k, v))
        return self.trade(self.core(q, k, v), 2, 1)


class _Ring(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, mesh):
        out = ring._scaled_dot_product_ring_flash_attention(mesh, q, k, v, is_causal=True)
        ctx.save_for_backward(q, k, v, *out[:2])
        ctx.rest, ctx.mesh = out[2:], mesh
        return out[0]

    @staticmethod
    def backward(ctx, grad):
        q, k, v, out, lse = ctx.saved_tensors
        cum_q, cum_k, max_q, max_k, seed, offset = ctx.rest[:6]
        grads = ring._scaled_dot_product_ring_flash_attention_backward(
            ctx.mesh, grad, q, k, v, out, lse, cum_q, cum_k, max_q, max_k, 0.0, True, seed, offset)
        return *grads[:3], None


class RingCore(nn.Module):
    """torch's ring attention, which passes keys and values on by permutations."""

    def __init__(self, mesh):
        super().__init__()
        self.mesh = mesh
        ring._cp_options.enable_load_balance = True
        ring.set_rotate_method("alltoall")

    def forward(self, q, k, v):
        return _Ring.apply(q, k, v, self.mesh)


class _VocabularyLoss(torch.autograd.Function):
    """The loss of logits whose vocabulary is split, with the three sums of torch's loss_parallel (the largest
    logit, the exponentials, the target's logit). loss_parallel itself holds four copies of the logits in fp32
    unless it is compiled."""

    @staticmethod
    def forward(ctx, logits, targets, group):
        values = logits.float()
        collectives.all_reduce(values.amax(-1), "max", group)
        collectives.all_reduce(values[:, 0].contiguous(), "sum", group)
        collectives.all_reduce(values[:, 0].contiguous(), "sum", group)
        ctx.save_for_backward(values.sub_(1))
        return values[:, 0].mean()

    @staticmethod
    def backward(ctx, grad):
        (values,) = ctx.saved_tensors
        return (values * grad).bfloat16(), None, None


def cut_tensor(stage, mesh):
    group = mesh.get_group()
    if stage.embedding is not None:
        parallelize_module(stage, mesh, {"embedding": RowwiseParallel(input_layouts=Replicate(),
                                                                      output_layouts=Shard(1))})
    if stage.head is not None:
        parallelize_module(stage.head, mesh, {
            "norm": SequenceParallel(),
            "logits": ColwiseParallel(input_layouts=Shard(1))})
        stage.head.loss = lambda logits, targets: _VocabularyLoss.apply(logits, targets, group)
    for block in stage.blocks:
        column, row = ColwiseParallel(), RowwiseParallel(output_layouts=Shard(1))
        parallelize_module(block, mesh, {
            "norm1": SequenceParallel(), "norm2": SequenceParallel(),
            "attention": PrepareModuleInput(input_layouts=(Shard(1), None),
                                            desired_input_layouts=(Replicate(), None)),
            "attention.q": column, "attention.k": column, "attention.v": column, "attention.o": row,
            "ffn": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),)),
            "ffn.gate": column, "ffn.up": column, "ffn.down": row})


def cut_context(stage, plan, meshes):
    mesh = meshes.contexts["context"]
    by_ring = plan["parallelism"]["context_method"] == "ring"
    for block in stage.blocks:
        core = block.attention.core
        block.attention.core = RingCore(mesh) if by_ring else TradedCore(core, mesh.get_group())


def cut_experts(stage, meshes):
    group = meshes.experts.get_group("expert")
    for block in stage.blocks:
        experts = block.ffn.experts
        for name in ("gate", "up", "down"):
            whole = getattr(experts, name)
            mine = whole.shape[0] // meshes.expert
            setattr(experts, name, nn.Parameter(torch.empty(mine, *whole.shape[1:])))
        experts.exchange = lambda x: collectives.all_to_all_single_autograd(x, None, None, group)


def shard(stage, meshes):
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)

    def one(module, mesh):
        if meshes.zero == 0:
            replicate(module, mesh=mesh, mp_policy=policy)
        else:
            fully_shard(module, mesh=mesh, mp_policy=policy, reshard_after_forward=meshes.zero == 3)

    if meshes.expert > 1:
        for block in stage.blocks:
            one(block.ffn.experts, meshes.experts["expert_data"])
    for unit in [*stage.units(), stage]:
        one(unit, meshes.data())


def cut(stage, plan, meshes):
    if meshes.tensor > 1:
        cut_tensor(stage, meshes.all["tensor"])
    if meshes.context > 1:
        cut_context(stage, plan, meshes)
    if meshes.expert > 1:
        cut_experts(stage, meshes)
    shard(stage, meshes)
    return stage
