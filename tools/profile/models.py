"""Shapes of the models whose whole layers and whole training steps are measured. No torch here.

A layer of a tensor slice t is the shard of one rank: heads / t, key-value heads / t (at least one), ffn / t.
"""
from dataclasses import dataclass

TENSOR_SLICES = (1, 2, 4, 8)


@dataclass(frozen=True)
class Model:
    name: str
    family: str  # llama, gpt or bert: which layer of layers.py
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    layers: int
    vocab: int
    tied: bool
    qkv_bias: bool = False  # of the llama family; gpt and bert always have biases


def _gpt(name, hidden, heads, layers):
    return Model(name, "gpt", hidden, heads, heads, hidden // heads, 4 * hidden, layers, 50257, True)


MODELS = {m.name: m for m in (
    Model("llama-7b", "llama", 4096, 32, 32, 128, 11008, 32, 32000, False),
    Model("llama3-8b", "llama", 4096, 32, 8, 128, 14336, 32, 128256, False),
    Model("llama3-70b", "llama", 8192, 64, 8, 128, 28672, 80, 128256, False),
    Model("llama3.1-405b", "llama", 16384, 128, 8, 128, 53248, 126, 128256, False),
    Model("llama3.2-1b", "llama", 2048, 32, 8, 64, 8192, 16, 128256, True),
    Model("llama3.2-3b", "llama", 3072, 24, 8, 128, 8192, 28, 128256, True),
    Model("tinyllama-1.1b", "llama", 2048, 32, 4, 64, 5632, 22, 32000, False),
    Model("qwen2.5-1.5b", "llama", 1536, 12, 2, 128, 8960, 28, 151936, True, qkv_bias=True),
    _gpt("gpt3-1.3b", 2048, 16, 24),
    _gpt("gpt3-2.7b", 2560, 32, 32),
    _gpt("gpt3-13b", 5120, 40, 40),
    _gpt("gpt3-175b", 12288, 96, 96),
    Model("bert-large", "bert", 1024, 16, 16, 64, 4096, 24, 30522, True),
)}

LAYER_MODELS = ("llama-7b", "llama3-8b", "llama3-70b", "llama3.1-405b", "gpt3-13b", "gpt3-175b", "bert-large")


@dataclass(frozen=True)
class Slice:
    """Sizes of one rank's shard of a layer."""
    heads: int
    kv_heads: int
    ffn: int


def slice_of(model, t):
    return Slice(model.heads // t, max(1, model.kv_heads // t), model.ffn // t)


def layer_parameters(model, t=1):
    """Matrix parameters of one rank's shard of a layer, without norms and biases."""
    s = slice_of(model, t)
    attention = model.hidden * model.head_dim * (2 * s.heads + 2 * s.kv_heads)
    return attention + model.hidden * s.ffn * (3 if model.family == "llama" else 2)


def layer_flops(model, t, micro_batch, sequence):
    """Forward FLOPs of a layer's shard: products with weights, and attention (half under a causal mask)."""
    tokens = micro_batch * sequence
    attention = 4 * slice_of(model, t).heads * model.head_dim * sequence * tokens
    return 2 * tokens * layer_parameters(model, t) + attention * (1 if model.family == "bert" else 0.5)


def model_parameters(model):
    return model.layers * layer_parameters(model) + (1 if model.tied else 2) * model.vocab * model.hidden


@dataclass(frozen=True)
class Step:
    """A whole training step on one device. Variant bf16: AdamW on bf16 parameters. Variant master: fp32 main
    gradients and fp32 master parameters, copied back to bf16 ones."""
    model: str
    variant: str
    micro_batch: int
    sequence: int
    micro_batches: int = 1
    recompute: str = "none"  # or full: every layer checkpointed


STEPS = (
    Step("llama3.2-1b", "bf16", 2, 4096),
    Step("llama3.2-1b", "master", 1, 8192, micro_batches=2),
    Step("llama3.2-1b", "bf16", 4, 4096, recompute="full"),
    Step("llama3.2-3b", "master", 1, 4096, micro_batches=2),
    Step("gpt3-1.3b", "bf16", 4, 2048),
    Step("gpt3-1.3b", "master", 2, 2048, micro_batches=4),
    Step("gpt3-2.7b", "master", 2, 2048),
    Step("qwen2.5-1.5b", "bf16", 1, 4096),
    Step("tinyllama-1.1b", "bf16", 4, 2048),
)
