"""The small layers of section layers: a router, a block of small experts, a dense layer.

Each is a function of the tensors that get gradients, so that it can be run eager, compiled and captured.
`waits` says whether the processor waits for the device in it, which no captured iteration may.
"""
import torch
from torch.nn import functional as F


def route(x, weight, k):
    """(weights of the chosen experts, order of the rows by expert, rows of each expert)."""
    scores = torch.softmax(F.linear(x, weight).float(), dim=-1)
    weights, chosen = torch.topk(scores, k, dim=-1)
    weights = weights / weights.sum(dim=-1, keepdim=True)
    flat = chosen.view(-1)
    order = torch.sort(flat, stable=True).indices
    count_of = flat.int() if flat.is_cuda else flat.float()
    counts = torch.histc(count_of, bins=weight.shape[0], min=0, max=weight.shape[0] - 1)
    return weights.to(x.dtype), order, counts


class Router:
    waits = False

    def __init__(self, c, tokens, hidden, experts, k=8):
        self.k = k
        self.leaves = [c.randn(tokens, hidden, grad=True), c.randn(experts, hidden, grad=True, scale=0.02)]
        self.gradient = c.randn(tokens, k)

    def __call__(self, x, weight):
        return route(x, weight, self.k)[0]


def unpermute(made, order, weights):
    """Expert rows back in token order, weighted and added up."""
    inverse = torch.empty_like(order)
    inverse[order] = torch.arange(order.shape[0], device=order.device)
    tokens, k = weights.shape
    return (made.index_select(0, inverse).view(tokens, k, -1) * weights.unsqueeze(-1)).sum(dim=1)


def swiglu(x):
    gate, up = x.chunk(2, dim=-1)
    return F.silu(gate) * up


class GroupedExperts:
    """Experts' weights in one tensor each, two grouped products."""
    waits = False

    def __init__(self, c, tokens, hidden, ffn, experts, k=8):
        self.k = k
        self.leaves = [c.randn(tokens, hidden, grad=True), c.randn(experts, hidden, grad=True, scale=0.02),
                       c.randn(experts, hidden, 2 * ffn, grad=True, scale=0.02),
                       c.randn(experts, ffn, hidden, grad=True, scale=0.02)]
        self.gradient = c.randn(tokens, hidden)

    def __call__(self, x, router, gate_up, down):
        weights, order, counts = route(x, router, self.k)
        ends = torch.cumsum(counts, 0, dtype=torch.int32)
        rows = x.index_select(0, order // self.k)
        made = torch._grouped_mm(swiglu(torch._grouped_mm(rows, gate_up, offs=ends)), down, offs=ends)
        return unpermute(made, order, weights)


class LoopedExperts:
    """One expert after the other. even: every expert gets as many rows, known without asking the device, so
    that the loop can be captured; otherwise the processor waits for the counts."""

    def __init__(self, c, tokens, hidden, ffn, experts, k=8, even=False):
        self.k, self.even, self.experts, self.waits = k, even, experts, not even
        self.leaves = [c.randn(tokens, hidden, grad=True), c.randn(experts, hidden, grad=True, scale=0.02)]
        for _ in range(experts):
            self.leaves += [c.randn(2 * ffn, hidden, grad=True, scale=0.02),
                            c.randn(hidden, ffn, grad=True, scale=0.02)]
        self.gradient = c.randn(tokens, hidden)
        self.expert = self.one_expert

    @staticmethod
    def one_expert(rows, gate_up, down):
        return F.linear(swiglu(F.linear(rows, gate_up)), down)

    def compile_expert(self):
        """Only an expert is compiled, for any number of rows: the loop asks the device how long each is."""
        self.expert = torch.compile(self.one_expert, dynamic=True)

    def __call__(self, x, router, *matrices):
        weights, order, counts = route(x, router, self.k)
        rows = x.index_select(0, order // self.k)
        each = rows.shape[0] // self.experts
        sizes = [each] * self.experts if self.even else [int(n) for n in counts.tolist()]
        made = [self.expert(part, matrices[2 * i], matrices[2 * i + 1])
                for i, part in enumerate(rows.split(sizes)) if sizes[i]]
        return unpermute(torch.cat(made), order, weights)


class DenseLayer:
    """layer_norm, fused qkv, causal attention, output, add, layer_norm, up, gelu, down, add."""
    waits = False

    def __init__(self, c, sequence, hidden=1024, ffn=4096, heads=16):
        self.heads = heads
        shapes = ((hidden,), (hidden,), (3 * hidden, hidden), (3 * hidden,), (hidden, hidden), (hidden,),
                  (hidden,), (hidden,), (ffn, hidden), (ffn,), (hidden, ffn), (hidden,))
        self.leaves = [c.randn(1, sequence, hidden, grad=True)]
        self.leaves += [c.randn(*shape, grad=True, scale=0.02) for shape in shapes]
        self.gradient = c.randn(1, sequence, hidden)

    def __call__(self, x, n1, b1, qkv, qkv_b, out, out_b, n2, b2, up, up_b, down, down_b):
        batch, sequence, hidden = x.shape
        parts = F.linear(F.layer_norm(x, (hidden,), n1, b1), qkv, qkv_b)
        q, k, v = parts.view(batch, sequence, 3, self.heads, hidden // self.heads).permute(2, 0, 3, 1, 4)
        core = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + F.linear(core.transpose(1, 2).reshape(batch, sequence, hidden), out, out_b)
        inner = F.gelu(F.linear(F.layer_norm(x, (hidden,), n2, b2), up, up_b), approximate="tanh")
        return x + F.linear(inner, down, down_b)
