"""Whole transformer layers in plain torch, one rank's shard of a tensor slice t, without collectives.

llama: rms_norm, q, k, v (for a third of them one fused product), rotary, attention, output, add, rms_norm,
gate, up, silu(gate) * up, down, add. gpt: layer_norm and biases, fused qkv, causal attention, gelu. bert:
norms after the additions, no mask. The profile's fit does not use these measurements: they judge it.
"""
import gc
import math
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

import models
from kinds_attention import angles, turn

MOST_ITERATIONS = 8


def linear(inputs, outputs, bias, dtype):
    made = nn.Linear(inputs, outputs, bias=bias, device="cuda", dtype=dtype)
    nn.init.normal_(made.weight, std=0.02)
    return made


def heads_first(x, heads, dim):
    return x.view(x.shape[0], x.shape[1], heads, dim).transpose(1, 2)


class RmsNorm(nn.Module):
    def __init__(self, hidden, dtype):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden, device="cuda", dtype=dtype))

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight, 1e-5)


class Attention(nn.Module):
    """Projections, rotary where the family has it, attention, output."""

    def __init__(self, model, shard, fused, bias, causal, dtype):
        super().__init__()
        self.heads, self.kv_heads, self.dim = shard.heads, shard.kv_heads, model.head_dim
        self.causal, self.rotary = causal, model.family == "llama"
        self.widths = [shard.heads * self.dim, shard.kv_heads * self.dim, shard.kv_heads * self.dim]
        parts = [sum(self.widths)] if fused else self.widths
        self.qkv = nn.ModuleList(linear(model.hidden, width, bias, dtype) for width in parts)
        output_bias = bias and model.family != "llama"
        self.output = linear(self.widths[0], model.hidden, output_bias, dtype)

    def forward(self, x, cos, sin):
        if len(self.qkv) == 1:
            q, k, v = self.qkv[0](x).split(self.widths, dim=-1)
        else:
            q, k, v = (part(x) for part in self.qkv)
        q = heads_first(q, self.heads, self.dim)
        k = heads_first(k, self.kv_heads, self.dim)
        v = heads_first(v, self.kv_heads, self.dim)
        if self.rotary:
            q, k = turn(torch, q, cos, sin), turn(torch, k, cos, sin)
        extra = {"enable_gqa": True} if self.kv_heads < self.heads else {}
        core = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, **extra)
        return self.output(core.transpose(1, 2).reshape(x.shape[0], x.shape[1], self.widths[0]))


class LlamaLayer(nn.Module):
    def __init__(self, model, shard, fused, dtype):
        super().__init__()
        self.attention_norm = RmsNorm(model.hidden, dtype)
        self.attention = Attention(model, shard, fused, model.qkv_bias, True, dtype)
        self.ffn_norm = RmsNorm(model.hidden, dtype)
        self.gate = linear(model.hidden, shard.ffn, False, dtype)
        self.up = linear(model.hidden, shard.ffn, False, dtype)
        self.down = linear(shard.ffn, model.hidden, False, dtype)

    def forward(self, x, cos, sin):
        x = x + self.attention(self.attention_norm(x), cos, sin)
        n = self.ffn_norm(x)
        return x + self.down(F.silu(self.gate(n)) * self.up(n))


class GptLayer(nn.Module):
    def __init__(self, model, shard, fused, dtype):
        super().__init__()
        self.attention_norm = nn.LayerNorm(model.hidden, device="cuda", dtype=dtype)
        self.attention = Attention(model, shard, fused, True, True, dtype)
        self.ffn_norm = nn.LayerNorm(model.hidden, device="cuda", dtype=dtype)
        self.up = linear(model.hidden, shard.ffn, True, dtype)
        self.down = linear(shard.ffn, model.hidden, True, dtype)

    def forward(self, x, cos, sin):
        x = x + self.attention(self.attention_norm(x), cos, sin)
        return x + self.down(F.gelu(self.up(self.ffn_norm(x)), approximate="tanh"))


class BertLayer(nn.Module):
    def __init__(self, model, shard, fused, dtype):
        super().__init__()
        self.attention = Attention(model, shard, fused, True, False, dtype)
        self.attention_norm = nn.LayerNorm(model.hidden, device="cuda", dtype=dtype)
        self.up = linear(model.hidden, shard.ffn, True, dtype)
        self.down = linear(shard.ffn, model.hidden, True, dtype)
        self.ffn_norm = nn.LayerNorm(model.hidden, device="cuda", dtype=dtype)

    def forward(self, x, cos, sin):
        x = self.attention_norm(x + self.attention(x, cos, sin))
        return self.ffn_norm(x + self.down(F.gelu(self.up(x))))


LAYERS = {"llama": LlamaLayer, "gpt": GptLayer, "bert": BertLayer}


def build(model, t, fused, dtype):
    return LAYERS[model.family](model, models.slice_of(model, t), fused, dtype)


def is_fused(model, t, micro_batch, sequence):
    """gpt always; bert never; of llama layers a third, by size, so that eager and compiled ones agree."""
    if model.family == "llama":
        return (t + micro_batch + sequence // 512) % 3 == 0
    return model.family == "gpt"


def tables(model, sequence, dtype):
    if model.family != "llama":
        return None, None
    return angles(torch, sequence, model.head_dim, dtype)


def clear(layer, x):
    x.grad = None
    for parameter in layer.parameters():
        parameter.grad = None


def memory_of(layer, x, forward, dy):
    """(bytes kept from forward to backward, peak of forward and backward), over what existed before."""
    clear(layer, x)
    torch.cuda.synchronize()
    start = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    y = forward()
    torch.cuda.synchronize()
    kept = torch.cuda.memory_allocated() - start
    y.backward(dy)
    torch.cuda.synchronize()
    return kept, torch.cuda.max_memory_allocated() - start


def time_layer(layer, x, forward, dy, estimate):
    """Medians over iterations issued without waiting, the first left out; the processor's time to issue."""
    count = 2 + max(3, min(MOST_ITERATIONS, math.ceil(0.1 / max(estimate, 1e-4))))
    marks = []
    torch.cuda.synchronize()
    begun = time.perf_counter()
    for _ in range(count):
        events = [torch.cuda.Event(enable_timing=True) for _ in range(3)]
        events[0].record()
        y = forward()
        events[1].record()
        y.backward(dy)
        events[2].record()
        clear(layer, x)
        del y
        marks.append(events)
    issued = (time.perf_counter() - begun) / count
    torch.cuda.synchronize()
    spans = [[events[i].elapsed_time(events[i + 1]) * 1e-3 for i in (0, 1)] for events in marks[1:]]
    return statistics.median(s[0] for s in spans), statistics.median(s[1] for s in spans), issued, len(spans)


def measure_layer(bench, point, compiled=False):
    gc.collect()
    bench.make_room()
    model, t = models.MODELS[point.get("model")], point.get("t")
    b, s = point.get("micro_batch"), point.get("sequence")
    fused = is_fused(model, t, b, s)
    layer = build(model, t, fused, bench.dtype)
    if compiled:
        torch.compiler.reset()
    run = torch.compile(layer, dynamic=False) if compiled else layer
    x = torch.randn(b, s, model.hidden, device="cuda", dtype=bench.dtype, requires_grad=True)
    dy = torch.randn(b, s, model.hidden, device="cuda", dtype=bench.dtype).mul_(0.1)
    cos, sin = tables(model, s, bench.dtype)

    def forward():
        return run(x, cos, sin)

    begun = time.perf_counter()
    for _ in range(2):
        forward().backward(dy)
        clear(layer, x)
    torch.cuda.synchronize()
    warm_up = time.perf_counter() - begun
    kept, peak = memory_of(layer, x, forward, dy)
    clear(layer, x)
    forward_s, backward_s, issued, samples = time_layer(layer, x, forward, dy, point.call_s)
    return {"model": model.name, "t": t, "micro_batch": b, "sequence": s,
            "mode": "compiled" if compiled else "eager", "qkv": "fused" if fused else "separate",
            "dtype": bench.dtype_name, "forward_s": forward_s, "backward_s": backward_s,
            "issue_s": issued, "stash_bytes": kept, "peak_bytes": peak,
            "parameters": sum(p.numel() for p in layer.parameters()), "warm_up_s": warm_up,
            "samples": samples}


def measure_compiled_layer(bench, point):
    return measure_layer(bench, point, compiled=True)
