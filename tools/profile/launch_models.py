"""Models of transformers by their configuration, with random weights: nothing is downloaded."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    family: str  # llama, qwen3 or qwen3_moe
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int  # of one expert where there are experts
    vocab: int
    tied: bool
    experts: int = 0
    top_k: int = 0


SHAPES = {
    "llama3.2-1b": Shape("llama", 2048, 16, 32, 8, 64, 8192, 128256, True),
    "llama3.2-3b": Shape("llama", 3072, 28, 24, 8, 128, 8192, 128256, True),
    "llama3-8b": Shape("llama", 4096, 32, 32, 8, 128, 14336, 128256, False),
    "qwen3-0.6b": Shape("qwen3", 1024, 28, 16, 8, 128, 3072, 151936, True),
    "qwen3-1.7b": Shape("qwen3", 2048, 28, 16, 8, 128, 6144, 151936, True),
    "qwen3-moe-8-layers": Shape("qwen3_moe", 2048, 8, 32, 4, 128, 768, 151936, False, 128, 8),
}
TINY = {
    "llama": Shape("llama", 64, 2, 4, 2, 16, 128, 256, True),
    "qwen3": Shape("qwen3", 64, 2, 4, 2, 16, 128, 256, True),
    "qwen3_moe": Shape("qwen3_moe", 64, 2, 4, 2, 16, 32, 256, False, 8, 2),
}


def shape_of(name, tiny):
    shape = SHAPES[name]
    return TINY[shape.family] if tiny else shape


def config_of(shape):
    import transformers
    same = {"hidden_size": shape.hidden, "num_hidden_layers": shape.layers,
            "num_attention_heads": shape.heads, "num_key_value_heads": shape.kv_heads,
            "head_dim": shape.head_dim, "vocab_size": shape.vocab,
            "tie_word_embeddings": shape.tied, "max_position_embeddings": 32768, "use_cache": False,
            "bos_token_id": 1, "eos_token_id": 2}
    if shape.family == "llama":
        return transformers.LlamaConfig(**same, intermediate_size=shape.ffn)
    if shape.family == "qwen3":
        return transformers.Qwen3Config(**same, intermediate_size=shape.ffn)
    return transformers.Qwen3MoeConfig(
        **same, intermediate_size=4 * shape.ffn, moe_intermediate_size=shape.ffn, num_experts=shape.experts,
        num_experts_per_tok=shape.top_k, norm_topk_prob=True, decoder_sparse_step=1, mlp_only_layers=[])


def build(c, name, dtype, **more):
    import transformers
    config = config_of(shape_of(name, c.tiny))
    with c.torch.device(c.device):
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="sdpa",
                                                              **more)
    return model.train()


def parameters_of(model):
    return sum(p.numel() for p in model.parameters())


def import_models():
    """The parts of transformers that are loaded at first use, before time is counted."""
    import transformers
    for name in ("LlamaForCausalLM", "Qwen3ForCausalLM", "Qwen3MoeForCausalLM", "Trainer"):
        getattr(transformers, name)
