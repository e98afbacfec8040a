"""Counts the forward FLOPs of models by torch.utils.flop_counter, on Transformers' own classes and the meta
device, and compares them with the same figure of ours: products, attention as the full square, and of experts
those that a token takes. Then the same of towers with their projectors: one image or sound through the
class's own get_image_features or get_audio_features.

    flops.py --nest PROGRAM [--table] [MODEL...]     the last line is "N passed, N failed, N skipped"
"""

import argparse
import json
import logging
import os
import sys
import tempfile
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
         "mamba2-2.7b": "the class of 5.23 multiplies chunk by chunk, that of 5.17 element by element"}
# Models of the zoo, and types with the defaults of their class. Where a class asks for the values of
# positions, its tower runs on the CPU, with two layers.
TOWERS = ["gemma3-27b", "llama4-maverick", "mistral-small-3.1-24b", "qwen2.5-vl-72b", "qwen3-vl-235b-a22b",
          "internvl", "llava", "paligemma", "voxtral"]
SHORT = 2


def config_of(models, name):
    from transformers import AutoConfig

    if not os.path.exists(os.path.join(models, f"{name}.json")):
        return AutoConfig.for_model(name)
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
    return config.model_type not in ("gpt_oss", "deepseek_v4", "gemma2", "mamba2")


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


def percent(share):
    text = f"{100 * share:+.2f} %"
    return "0.00 %" if text[1:] == "0.00 %" else text


def part_of(config):
    return config.vision_config if hasattr(config, "vision_config") else config.audio_config


def shorten_tower(config):
    part = part_of(config)
    for key in ("num_hidden_layers", "depth"):
        if hasattr(part, key):
            setattr(part, key, SHORT)
    # Windows are computed one by one by the class; ours are the full square, as all attention is.
    if hasattr(part, "fullatt_block_indexes"):
        part.fullatt_block_indexes = list(range(SHORT))
    if hasattr(part, "deepstack_visual_indexes"):
        part.deepstack_visual_indexes = list(range(SHORT))


def tower_inputs(config, device):
    part = part_of(config)
    if not hasattr(config, "vision_config"):
        return (torch.zeros(1, part.num_mel_bins, 2 * part.max_source_positions, device=device),), {}
    if hasattr(part, "temporal_patch_size"):  # an image is a list of patches, and its size in them
        side = int(getattr(part, "num_position_embeddings", 1024) ** 0.5)
        values = 3 * part.temporal_patch_size * part.patch_size**2
        return (torch.zeros(side * side, values, device=device), torch.tensor([[1, side, side]])), {}
    side = part.image_size if isinstance(part.image_size, int) else part.image_size[0]
    words = {"image_sizes": torch.tensor([[side, side]])} if config.model_type == "mistral3" else {}
    if config.model_type == "llama4":  # older releases ask for it
        words["vision_feature_select_strategy"] = part.vision_feature_select_strategy
    return (torch.zeros(1, 3, side, side, device=device),), words


def tower_of(models, name, device):
    """The config, its text part one layer long, and the FLOPs of its tower."""
    import transformers as t

    config = config_of(models, name)
    text = config.text_config
    text.num_hidden_layers = 1
    for key in ("layer_types", "mlp_layer_types", "no_rope_layers", "moe_layers"):
        if getattr(text, key, None):
            setattr(text, key, getattr(text, key)[:1])
    if device == "cpu":
        shorten_tower(config)
    for part in (config, text, part_of(config)):
        part._attn_implementation = "sdpa"
    kind = t.AutoModelForImageTextToText if hasattr(config, "vision_config") else None
    with torch.device("meta"):
        model = kind.from_config(config) if kind else t.VoxtralForConditionalGeneration(config)
    model.eval()
    if device == "cpu":
        model.model.language_model = model.lm_head = None
        model = model.to_empty(device="cpu")
        for tensor in [*model.parameters(), *model.buffers()]:
            tensor.data.zero_()
    values, words = tower_inputs(config, device)
    run_tower = model.get_image_features if kind else model.get_audio_features
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        run_tower(*values, **words)
    return config, counter.get_total_flops()


def compare_tower(options, name):
    """Of both, and how many layers the tower has; none where this release cannot run it."""
    try:
        try:
            config, theirs = tower_of(options.models, name, "meta")
        except (RuntimeError, NotImplementedError):
            config, theirs = tower_of(options.models, name, "cpu")
    except Exception as error:  # pylint: disable=broad-except
        print(f"skipped {name}: {type(error).__name__}: {str(error)[:160]}", flush=True)
        return None
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "config.json")
        with open(file, "w", encoding="utf-8") as out:
            out.write(config.to_json_string(use_diff=False))
        layers = ours(options.nest, file, SEQUENCE)["layers"]
    own = [layer for layer in layers if layer["name"].startswith(("vision", "audio"))]
    blocks = sum(layer["name"][-1].isdigit() for layer in own)
    return config.model_type, blocks, theirs, sum(layer["counter_flops"] for layer in own)


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
    chosen = lambda all_of: [n for n in all_of if not options.names or n in options.names]  # noqa: E731
    for name in chosen(MODELS):
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
                  f"{figure / 1e12:.2f} | {percent(away)} | {own['forward_flops'] / 1e12:.2f} |",
                  flush=True)
        else:
            print(f"{config.model_type} {name}: {theirs:.4e} by torch, {figure:.4e} ours, "
                  f"{100 * away:+.2f} %" + (f": {known}" if known else ""),
                  flush=True)
    for name in chosen(TOWERS):
        row = compare_tower(options, name)
        if row is None:
            skipped += 1
            continue
        kind, blocks, theirs, figure = row
        away = figure / theirs - 1
        passed, failed = passed + (abs(away) <= LIMIT), failed + (abs(away) > LIMIT)
        if options.table:
            print(f"| {kind} | {name} | {blocks} | {theirs / 1e9:.1f} | {figure / 1e9:.1f} | "
                  f"{percent(away)} |", flush=True)
        else:
            print(f"tower of {kind} {name}: {theirs:.4e} by torch, {figure:.4e} ours, {100 * away:+.2f} %",
                  flush=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
