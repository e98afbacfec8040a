"""A Llama-like model in plain torch, dense or with experts, from the config.json that nest reads.

Stage(config, layers) holds some of the layers: 0 is the embedding, 1 .. n the blocks, n + 1 the head.
Attention and experts are modules of their own, so that a cut can replace what they do: `Attention.core` is
the product of queries, keys and values, and `Experts.exchange` brings tokens to experts and back.
"""

import torch
import torch.nn.functional as F
from torch import nn


class _Norm(torch.autograd.Function):
    """What the GPU's fused kernel keeps: its input, and one number for each row. torch's own operator takes
    norms apart on the CPU. Values do not matter here, only shapes."""

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight, x[..., :1].float())
        return x * weight

    @staticmethod
    def backward(ctx, grad):
        x, weight, _ = ctx.saved_tensors
        return grad * weight, (grad * x).sum(tuple(range(x.dim() - 1)))


class Norm(nn.RMSNorm):
    def forward(self, x):
        return _Norm.apply(x, self.weight)


def rotate(x, table):
    # Real arithmetic: what it keeps for the backward pass is the table, which all layers share.
    cos, sin = table
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


class Core(nn.Module):
    """Causal attention over [batch, heads, sequence, head] by the GPU's fused kernel, of which fake tensors
    need the shapes only; on the CPU, scaled_dot_product_attention would choose another one."""

    def forward(self, q, k, v):
        return torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, True)[0]


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        hidden, self.head = config["hidden_size"], config["head_dim"]
        self.q = nn.Linear(hidden, config["num_attention_heads"] * self.head, bias=False)
        self.k = nn.Linear(hidden, config["num_key_value_heads"] * self.head, bias=False)
        self.v = nn.Linear(hidden, config["num_key_value_heads"] * self.head, bias=False)
        self.o = nn.Linear(config["num_attention_heads"] * self.head, hidden, bias=False)
        self.core = Core()

    def forward(self, x, table):
        q, k, v = (f(x).unflatten(-1, (-1, self.head)) for f in (self.q, self.k, self.v))
        q, k, v = (y.transpose(1, 2) for y in (rotate(q, table), rotate(k, table), v))
        return self.o(self.core(q, k, v).transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self, config):
        super().__init__()
        hidden, width = config["hidden_size"], config["intermediate_size"]
        self.gate = nn.Linear(hidden, width, bias=False)
        self.up = nn.Linear(hidden, width, bias=False)
        self.down = nn.Linear(width, hidden, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    """All experts' weights in three tensors. Every expert gets the same number of tokens."""

    def __init__(self, config):
        super().__init__()
        hidden, width = config["hidden_size"], config["intermediate_size"]
        self.number = config["num_local_experts"]
        self.gate = nn.Parameter(torch.empty(self.number, hidden, width))
        self.up = nn.Parameter(torch.empty(self.number, hidden, width))
        self.down = nn.Parameter(torch.empty(self.number, width, hidden))
        self.exchange = None  # what expert parallelism puts here: a function of tokens and a direction

    def forward(self, tokens):
        if self.exchange:
            tokens = self.exchange(tokens)
        mine = self.gate.shape[0]
        rows = tokens.view(mine, -1, tokens.shape[-1])
        out = torch.bmm(F.silu(torch.bmm(rows, self.gate)) * torch.bmm(rows, self.up), self.down)
        out = out.flatten(0, 1)
        return self.exchange(out) if self.exchange else out


class Mixture(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.top = config["num_experts_per_tok"]
        self.router = nn.Linear(config["hidden_size"], config["num_local_experts"], bias=False)
        self.experts = Experts(config)

    def forward(self, x):
        tokens = x.flatten(0, 1)
        scores = F.softmax(self.router(tokens), dim=-1, dtype=torch.float32)
        weights, chosen = scores.topk(self.top, dim=-1)
        order = chosen.flatten().argsort()
        moved = tokens.index_select(0, order // self.top)
        out = self.experts(moved)
        back = torch.zeros_like(out).index_copy(0, order, out)
        back = back.view(-1, self.top, tokens.shape[-1])
        return torch.bmm(weights.to(x.dtype).unsqueeze(1), back).view_as(x)


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm1 = Norm(config["hidden_size"], eps=1e-5)
        self.attention = Attention(config)
        self.norm2 = Norm(config["hidden_size"], eps=1e-5)
        self.ffn = Mixture(config) if config.get("num_local_experts") else FeedForward(config)

    def forward(self, x, table):
        x = x + self.attention(self.norm1(x), table)
        return x + self.ffn(self.norm2(x))


class Head(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm = Norm(config["hidden_size"], eps=1e-5)
        self.logits = nn.Linear(config["hidden_size"], config["vocab_size"], bias=False)
        self.loss = lambda logits, targets: F.cross_entropy(logits.float(), targets)

    def forward(self, x, targets):
        return self.loss(self.logits(self.norm(x)).flatten(0, 1), targets.flatten())


class Stage(nn.Module):
    def __init__(self, config, layers, positions):
        super().__init__()
        last = config["num_hidden_layers"] + 1
        self.embedding = nn.Embedding(config["vocab_size"], config["hidden_size"]) if 0 in layers else None
        self.blocks = nn.ModuleList(Block(config) for i in layers if 0 < i < last)
        self.head = Head(config) if last in layers else None
        angles = torch.zeros(positions, 1, config["head_dim"] // 2, dtype=torch.bfloat16)
        self.register_buffer("cos", angles, persistent=False)
        self.register_buffer("sin", angles.clone(), persistent=False)
        self.targets = None  # of the micro-batch: the head computes the loss

    def units(self):
        """What is gathered and reduced at once: each layer."""
        return [m for m in (self.embedding, *self.blocks, self.head) if m is not None]

    def forward(self, x):
        if self.embedding is not None:
            x = self.embedding(x)
        for block in self.blocks:
            x = block(x, (self.cos, self.sin))
        return x if self.head is None else self.head(x, self.targets)
