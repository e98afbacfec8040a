"""Counts the forward FLOPs of models by torch.utils.flop_counter, on Transformers' own classes and the meta
device, and compares them with the same figure of ours: products, attention as the full square, and of experts
those that a token takes.

    flops.py --nest PROGRAM [--table] [MODEL...]     the last line is "N passed, N failed, N skipped"
"""

import argparse
import json
import logging
import os
import sys
import warnings

import torch
from torch.utils.flop_counter import FlopCounterMode

from random_plans import run

logging.disable(logging.WARNING)
warnings.filterwarnings("ignore")

# One model for each type, at its published size.
MODELS = ["apertus-8b", "bert-large", "deepseek-v2-lite", "deepseek-v3", "deepseek-v3.2", "dots.llm1",
          "ernie-4.5-21b-a3b", "exaone-4.0-32b", "gemma-7b", "gemma2-27b", "gemma3-1b", "gemma3-27b",
          "glm-4.5", "glm-5", "gpt-neox-20b", "gpt-oss-120b", "gpt2-xl", "granite-3.3-8b",
          "jamba-1.5-large", "kimi-k2", "kimi-linear-48b-a3b", "llama3.1-405b", "llama4-maverick",
          "mamba2-2.7b", "minimax-m2", "mistral-7b", "mistral-small-3.1-24b", "mixtral-8x22b",
          "nemotron-h-56b", "olmo2-32b", "olmo3-32b", "opt-66b", "phi-2", "phi-4", "qwen1.5-moe-a2.7b",
          "qwen2.5-72b", "qwen2.5-vl-72b", "qwen3-235b-a22b", "qwen3-32b", "qwen3-next-80b-a3b",
          "qwen3-vl-235b-a22b", "qwen3.5-397b-a17b", "seed-oss-36b", "smollm3-3b", "t5-11b", "vit-huge",
          "whisper-large-v3"]
SEQUENCE = 2048
LIMIT = 0.02
# Where the classes compute something else than a token needs, or in another way; docs/flops.md has both.
KNOWN = {"llama4-maverick": "its class sends every token through all experts",
         "mamba2-2.7b": "its class multiplies element by element, which the counter does not see"}


def config_of(models, name):
    from transformers import AutoConfig

    with open(os.path.join(models, f"{name}.json"), encoding="utf-8") as file:
        fields = json.load(file)
    fields.pop("nest", None)
    return AutoConfig.for_model(fields.pop("model_type"), **fields)


def build(config):
    import transformers as t

    first = {"bert": t.AutoModelForMaskedLM, "t5": t.AutoModelForSeq2SeqLM,
             "vit": t.AutoModelForImageClassification,
             "whisper": t.AutoModelForSpeechSeq2Seq}.get(config.model_type)
    if first is None:
        first = t.AutoModelForImageTextToText if hasattr(config, "vision_config") else t.AutoModelForCausalLM
    for part in [config, getattr(config, "text_config", None)]:
        if part is not None:
            part._experts_implementation = "batched_mm"  # the experts that a token takes, one by one
            part.use_cache = False
    with torch.device("meta"):
        return first.from_config(config, attn_implementation="sdpa" if _has_sdpa(config) else "eager").eval()


def _has_sdpa(config):
    return config.model_type not in ("gpt_oss", "deepseek_v4", "mamba2")


def inputs_of(config, model, sequence):
    whole = lambda *shape: torch.zeros(shape, dtype=torch.long, device="meta")  # noqa: E731
    if config.model_type == "vit":
        side = config.image_size
        return {"pixel_values": torch.empty(1, 3, side, side, device="meta")}
    if config.model_type == "whisper":
        frames = 2 * config.max_source_positions
        return {"input_features": torch.empty(1, config.num_mel_bins, frames, device="meta"),
                "decoder_input_ids": whole(1, config.max_target_positions)}
    if config.model_type == "t5":
        return {"input_ids": whole(1, sequence), "decoder_input_ids": whole(1, sequence)}
    return {"input_ids": whole(1, sequence)}


def counted(config, model, sequence):
    from transformers import masking_utils

    # It asks the values of positions, which meta tensors do not have: there is one document.
    masking_utils.find_packed_sequence_indices = lambda positions: None
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(**inputs_of(config, model, sequence))
    return counter.get_total_flops()


def ours(nest, name, sequence):
    command = [nest, "models", "show", name, "--json"]
    if sequence is not None:
        command += ["--sequence", str(sequence)]
    return json.loads(run(command).stdout)


def sequence_of(config):
    if config.model_type in ("vit", "whisper"):
        return None
    table = getattr(config, "n_positions", None) if config.model_type == "gpt2" else None
    if config.model_type in ("bert", "opt", "phi"):
        table = config.max_position_embeddings
    return min(SEQUENCE, table or SEQUENCE)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nest", default="build/nest")
    parser.add_argument("--models", default="data/models")
    parser.add_argument("--table", action="store_true", help="rows for docs/flops.md")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    passed = failed = skipped = 0
    for name in options.names or MODELS:
        config = config_of(options.models, name)
        sequence = sequence_of(config)
        try:
            theirs = counted(config, build(config), sequence)
        except Exception as error:  # what this release cannot run on the meta device is no answer
            print(f"skipped {name}: {type(error).__name__}: {str(error)[:160]}", flush=True)
            skipped += 1
            continue
        own = ours(options.nest, name, sequence)
        towers = 0
        if hasattr(config, "vision_config"):  # torch is given text alone
            towers = sum(layer["counter_flops"] for layer in own["layers"]
                         if layer["name"].startswith("vision"))
        figure = own["counter_flops"] - towers
        away = figure / theirs - 1
        good = abs(away) <= LIMIT
        known = KNOWN.get(name) if not good else None
        passed, skipped = passed + good, skipped + (known is not None)
        failed += not good and known is None
        if options.table:
            print(f"| {config.model_type} | {name} | {sequence or own['sequence']:,} | {theirs / 1e12:.2f} | "
                  f"{figure / 1e12:.2f} | {100 * away:+.2f} % | {own['forward_flops'] / 1e12:.2f} |",
                  flush=True)
        else:
            print(f"{config.model_type} {name}: {theirs:.4e} by torch, {figure:.4e} ours, "
                  f"{100 * away:+.2f} %" + (f": {known}" if known else ""),
                  flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
