"""Whole training steps on one device: embedding, all layers, head, cross-entropy, AdamW.

Variant bf16: the optimizer works on the bf16 parameters. Variant master: gradients are added into float32
main gradients as each becomes ready, the optimizer works on float32 master parameters, which are copied back.
"""
import gc
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

import layers
import models

WARM_UP = 2
MEASURED = 4
POSITIONS = 2048  # learned positions of gpt


def padded(vocab):
    """Heads are padded to a multiple of 128, as training frameworks do."""
    return (vocab + 127) // 128 * 128


def rows_of(count, hidden, dtype):
    return nn.Parameter(torch.empty(count, hidden, device="cuda", dtype=dtype).normal_(std=0.02))


class Whole(nn.Module):
    def __init__(self, model, recompute, dtype):
        super().__init__()
        self.recompute = recompute
        vocab = padded(model.vocab)
        self.table = rows_of(vocab, model.hidden, dtype)
        self.positions = rows_of(POSITIONS, model.hidden, dtype) if model.family == "gpt" else None
        llama = model.family == "llama"
        self.layers = nn.ModuleList(layers.build(model, 1, not llama, dtype) for _ in range(model.layers))
        self.norm = (layers.RmsNorm(model.hidden, dtype) if llama
                     else nn.LayerNorm(model.hidden, device="cuda", dtype=dtype))
        self.head = None if model.tied else layers.linear(model.hidden, vocab, False, dtype)

    def forward(self, tokens, labels, cos, sin):
        x = F.embedding(tokens, self.table)
        if self.positions is not None:
            x = x + self.positions[:tokens.shape[1]]
        for layer in self.layers:
            x = checkpoint(layer, x, cos, sin, use_reentrant=False) if self.recompute else layer(x, cos, sin)
        x = self.norm(x)
        logits = F.linear(x, self.table) if self.head is None else self.head(x)
        return F.cross_entropy(logits.float().view(-1, logits.shape[-1]), labels.view(-1))


class PlainUpdate:
    """Variant bf16."""

    def __init__(self, whole):
        self.chosen = torch.optim.AdamW(whole.parameters(), lr=1e-5, weight_decay=0.1, fused=True)

    def step(self):
        self.chosen.step()
        self.chosen.zero_grad(set_to_none=True)


class MasterUpdate:
    """Variant master."""

    def __init__(self, whole):
        self.parameters = [p.detach() for p in whole.parameters()]
        self.masters = [p.float() for p in self.parameters]
        self.gradients = [torch.zeros_like(m) for m in self.masters]
        for parameter, gradient in zip(whole.parameters(), self.gradients):
            parameter.register_post_accumulate_grad_hook(self._adder(gradient))
        for master, gradient in zip(self.masters, self.gradients):
            master.grad = gradient
        self.chosen = torch.optim.AdamW(self.masters, lr=1e-5, weight_decay=0.1, fused=True)

    @staticmethod
    def _adder(gradient):
        def add(parameter):
            gradient.add_(parameter.grad)
            parameter.grad = None
        return add

    def step(self):
        self.chosen.step()
        torch._foreach_copy_(self.parameters, self.masters)
        torch._foreach_zero_(self.gradients)


def one_step(whole, update, batches, cos, sin):
    """Events: start, then after forward and after backward of each micro-batch, then after the update."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(2 + 2 * len(batches))]
    events[0].record()
    for i, (tokens, labels) in enumerate(batches):
        loss = whole(tokens, labels, cos, sin)
        events[1 + 2 * i].record()
        (loss / len(batches)).backward()
        events[2 + 2 * i].record()
        del loss
    update.step()
    events[-1].record()
    return events


def parts_of(events):
    """(step, forward, backward, update) in seconds."""
    spans = [a.elapsed_time(b) * 1e-3 for a, b in zip(events, events[1:])]
    return sum(spans), sum(spans[0:-1:2]), sum(spans[1:-1:2]), spans[-1]


def measure_step(bench, point):
    gc.collect()
    bench.make_room()
    base, base_reserved = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
    model = models.MODELS[point.get("model")]
    whole = Whole(model, point.get("recompute") == "full", bench.dtype)
    update = (MasterUpdate if point.get("variant") == "master" else PlainUpdate)(whole)
    shape = (point.get("micro_batch"), point.get("sequence"))
    batches = [tuple(torch.randint(model.vocab, shape, device="cuda") for _ in range(2))
               for _ in range(point.get("micro_batches"))]
    cos, sin = layers.tables(model, shape[1], bench.dtype)
    for _ in range(WARM_UP):
        one_step(whole, update, batches, cos, sin)
    torch.cuda.synchronize()
    static = torch.cuda.memory_allocated() - base
    torch.cuda.reset_peak_memory_stats()
    issued, parts = [], []
    for _ in range(MEASURED):
        begun = time.perf_counter()
        events = one_step(whole, update, batches, cos, sin)
        issued.append(time.perf_counter() - begun)
        torch.cuda.synchronize()
        parts.append(parts_of(events))
    step, forward, backward, last = (statistics.median(p[i] for p in parts) for i in range(4))
    return {**dict(point.key), "vocab": padded(model.vocab), "tied": model.tied, "dtype": bench.dtype_name,
            "parameters": sum(p.numel() for p in whole.parameters()), "step_s": step, "forward_s": forward,
            "backward_s": backward, "optimizer_s": last, "issue_s": statistics.median(issued),
            "static_bytes": static, "peak_allocated_bytes": torch.cuda.max_memory_allocated() - base,
            "peak_reserved_bytes": torch.cuda.max_memory_reserved() - base_reserved, "samples": MEASURED}
