"""Traces small models of transformers (nest.trace) and compares what is found with torch's own count of
parameters and with what the configuration says: parameters to the last one, blocks, and FLOPs within 2 %.

    trace_types.py [TYPE...]

Run it with a Python that has the package, torch, transformers, onnx and onnxscript. Without types, those of
TYPES are tried. The last line is "N equal, N different, N refused".
"""

import logging
import sys
import warnings

import torch
import transformers

import nest
from nest._trace import _module_of

logging.disable(logging.WARNING)
warnings.filterwarnings("ignore")
TYPES = """llama mistral qwen2 qwen3 gemma gemma2 gemma3_text phi phi3 gpt2 gpt_neox gptj codegen opt bloom
falcon bert roberta distilbert electra albert camembert xlm-roberta ernie t5 mt5 bart starcoder2 stablelm
olmo olmo2 cohere cohere2 granite glm glm4 nemotron persimmon biogpt vit deit exaone4 helium seed_oss apertus
arcee smollm3 mixtral mamba""".split()
SEQUENCE = 64
WITHIN = 0.02
# Sizes by all names that configurations have for them; a configuration takes those that it knows.
SMALL = {
    "hidden_size": 64, "d_model": 64, "n_embd": 64, "num_hidden_layers": 3, "n_layer": 3,
    "num_layers": 3, "n_layers": 3, "num_attention_heads": 4, "n_head": 4, "num_heads": 4, "n_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 160, "d_ff": 160, "ffn_dim": 160,
    "n_inner": 160, "hidden_dim": 160, "dim": 64, "ffn_hidden_size": 160, "vocab_size": 999,
    "max_position_embeddings": 128, "n_positions": 128, "word_embed_proj_dim": 64, "embedding_size": 64,
    "image_size": 64, "patch_size": 16, "rotary_dim": 16, "d_kv": 16, "num_decoder_layers": 3,
    "encoder_layers": 3, "decoder_layers": 3, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 160, "decoder_ffn_dim": 160, "pad_token_id": 0, "bos_token_id": 1,
    "eos_token_id": 2,
}  # fmt: skip


def small(kind):
    """A small configuration of a type, or None where transformers has none of that name."""
    if kind not in transformers.CONFIG_MAPPING:
        return None
    cls = transformers.CONFIG_MAPPING[kind]
    usual = cls()
    if any(key.endswith("_config") for key in vars(usual) if getattr(usual, key) is not None):
        return None  # parts with sizes of their own
    renamed = getattr(usual, "attribute_map", {})
    keys = {key: value for key, value in SMALL.items() if key in vars(usual) or key in renamed}
    for name, own in renamed.items():  # one of two names for the same
        if name in keys:
            keys.pop(own, None)
    return cls(**keys)


def differences(config):
    """What trace and configuration differ in."""
    module = _module_of(torch, config)
    config.architectures = [type(module).__name__]
    traced, told = nest.trace(module), nest.Model(config)
    images = traced.describe()["layers"][0]["name"] == "patches" or not getattr(config, "vocab_size", 0)
    asked = {} if images else {"sequence": SEQUENCE}
    a, b = traced.describe(**asked), told.describe(**asked)
    heads = sum(part["parameters"] for part in b["apart"] if part["in_graph"])
    found = []
    theirs = sum(p.numel() for p in module.parameters())
    if a["parameters"] != theirs:
        found.append(f"{a['parameters']:,} parameters, torch has {theirs:,}")
    if a["parameters"] not in (b["parameters"], b["parameters"] + heads):
        found.append(f"{a['parameters']:,} parameters, by its configuration {b['parameters'] + heads:,}")
    if a["blocks"] != b["blocks"]:
        found.append(f"{a['blocks']} blocks, by its configuration {b['blocks']}")
    for key in ("forward_flops", "counter_flops"):
        if abs(a[key] / b[key] - 1) > WITHIN:
            found.append(f"{key} {a[key] / b[key]:.3f} times those of its configuration")
    return found


def main():
    equal = different = refused = 0
    for kind in sys.argv[1:] or TYPES:
        try:
            config = small(kind)
        except Exception:  # sizes that do not fit together
            config = None
        if config is None:
            continue
        try:
            found = differences(config)
        except nest.InputError as error:
            refused += 1
            print(f"{kind}: refused: {str(error)[:160]}", flush=True)
            continue
        except Exception as error:  # torch's or transformers' own
            refused += 1
            print(f"{kind}: {type(error).__name__}: {str(error)[:120]}", flush=True)
            continue
        equal, different = equal + (not found), different + bool(found)
        print(f"{kind}: {'; '.join(found) or 'equal'}", flush=True)
    print(f"{equal} equal, {different} different, {refused} refused", flush=True)


if __name__ == "__main__":
    torch.manual_seed(1)
    main()
