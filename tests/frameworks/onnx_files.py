"""Exports models by torch.onnx, with its two exporters, and compares what we read from the files with what we
read from the models' config.json: parameters to the last one (with torch's own count), blocks, and forward
FLOPs within 2 %.

    onnx_files.py --nest PROGRAM [--keep FOLDER] [MODEL...]

The weights are random, so that exporters find no two tensors that are equal. Where the packages onnx and
onnxscript are not installed, everything is skipped. The last line is "N passed, N failed, N skipped".
"""

import argparse
import importlib.util
import json
import logging
import os
import subprocess
import sys
import tempfile
import warnings

logging.disable(logging.WARNING)
warnings.filterwarnings("ignore")
NEEDED = ("onnx", "onnxscript")
LENGTH = 32
SEQUENCE = 64  # at which both are compared
FLOPS_WITHIN = 0.02

SMALL = {"hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 8, "intermediate_size": 160,
         "vocab_size": 999, "max_position_embeddings": 128}
GROUPED = {**SMALL, "num_key_value_heads": 2}

# (name, class, keys of its config)
MODELS = [
    ("gpt2", "GPT2LMHeadModel",
     {"n_layer": 3, "n_embd": 64, "n_head": 4, "vocab_size": 999, "n_positions": 128}),
    ("llama", "LlamaForCausalLM", GROUPED),
    ("bert", "BertForMaskedLM", SMALL),
    ("vit", "ViTForImageClassification",
     {"hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 8, "intermediate_size": 160,
      "image_size": 64, "patch_size": 16, "num_labels": 10}),
    ("qwen3", "Qwen3ForCausalLM", {**GROUPED, "head_dim": 16}),
    ("gemma2", "Gemma2ForCausalLM", {**GROUPED, "head_dim": 8, "sliding_window": 16}),
    ("phi", "PhiForCausalLM", SMALL),
    ("gpt_neox", "GPTNeoXForCausalLM", SMALL),
    ("t5", "T5ForConditionalGeneration",
     {"num_layers": 2, "d_model": 64, "d_ff": 160, "num_heads": 8, "d_kv": 8, "vocab_size": 999}),
]
# (name, exporter, whether lengths differ from run to run, options)
WAYS = [
    ("dynamo", True, True, {}),
    ("dynamo, attention as one operator", True, True, {"opset_version": 23}),
    ("dynamo, not optimized", True, True, {"optimize": False}),
    ("classic", False, True, {"opset_version": 17}),
    ("classic, not folded", False, True, {"opset_version": 17, "do_constant_folding": False}),
    ("classic, of one length", False, False, {"opset_version": 17}),
]
# What an exporter of torch or a model of Transformers does not do: said, and skipped.
UNABLE = (("t5", True),)


def show(nest, file, *options):
    done = subprocess.run([nest, "models", "show", file, "--json", *options], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise ValueError(done.stderr.strip())
    return json.loads(done.stdout), done.stderr


def inputs_of(torch, kind, rows):
    tokens = torch.randint(0, 900, (rows, LENGTH))
    if kind == "vit":
        return {"pixel_values": torch.randn(rows, 3, 64, 64)}
    if kind == "t5":
        return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "decoder_input_ids": tokens}
    return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}


def export(torch, kind, model, file, dynamo, lengths, options):
    given = inputs_of(torch, kind, 2 if dynamo else 1)
    names = list(given)

    class Outputs(torch.nn.Module):
        """The model's first output alone."""

        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, *values):
            keys = dict(zip(names, values))
            if kind != "vit":
                keys["use_cache"] = False
            return self.model(**keys)[0]

    known = {"input_names": names, "output_names": ["logits"], **options}
    if dynamo:
        free = torch.export.Dim.DYNAMIC
        shapes = tuple({0: free} if name == "pixel_values" else {0: free, 1: free} for name in names)
        known.update(dynamo=True, external_data=False, dynamic_shapes=[shapes] if lengths else None)
    else:
        rows = {0: "batch"}
        axes = {name: rows if name == "pixel_values" else {**rows, 1: "sequence"} for name in names}
        known.update(dynamo=False, dynamic_axes=axes if lengths else None)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        stdout, sys.stdout = sys.stdout, nowhere
        try:
            torch.onnx.export(Outputs().eval(), tuple(given.values()), file, **known)
        finally:
            sys.stdout = stdout


def differences(nest, kind, model, config, file, lengths):
    """What our two readings differ in, as sentences."""
    length = LENGTH if not lengths else SEQUENCE
    sizes = [] if kind == "vit" else ["--sequence", str(length)]
    by_config, _ = show(nest, config, *sizes)
    by_file, said = show(nest, file, *sizes)
    theirs = sum(p.numel() for p in {id(p): p for p in model.parameters()}.values())
    found = []
    twice = "counted as two" in said
    if twice and model.config.tie_word_embeddings:
        # The exporter wrote the token table twice; the warning says so.
        theirs += model.get_input_embeddings().weight.numel()
    if by_file["parameters"] != theirs:
        found.append(f"{by_file['parameters']:,} parameters, torch has {theirs:,}")
    if by_file["blocks"] != by_config["blocks"]:
        found.append(f"{by_file['blocks']} blocks, the config {by_config['blocks']}")
    for key in ("forward_flops", "counter_flops"):
        ratio = by_file[key] / by_config[key]
        if abs(ratio - 1) > FLOPS_WITHIN:
            found.append(f"{key} {ratio:.3f} times those of the config")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nest", default="build/nest")
    parser.add_argument("--keep")
    parser.add_argument("models", nargs="*")
    options = parser.parse_args()
    chosen = [row for row in MODELS if not options.models or row[0] in options.models]
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        print(f"{' and '.join(missing)} cannot be imported: nothing is exported")
        print(f"0 passed, 0 failed, {len(chosen) * len(WAYS)} skipped")
        return 0
    import torch
    import transformers

    torch.manual_seed(20)
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        for kind, architecture, keys in chosen:
            cls = getattr(transformers, architecture)
            model = cls(cls.config_class(**keys)).eval()
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.copy_(torch.randn_like(parameter) * 0.05)
            model.config.architectures = [architecture]
            config = os.path.join(folder, f"{kind}.json")
            model.config.to_json_file(config, use_diff=False)
            for number, (way, dynamo, lengths, more) in enumerate(WAYS):
                file = os.path.join(folder, f"{kind}{number}.onnx")
                if (kind, dynamo) in UNABLE:
                    skipped += 1
                    continue
                try:
                    export(torch, kind, model, file, dynamo, lengths, more)
                    found = differences(options.nest, kind, model, config, file, lengths)
                except Exception as error:  # an exporter's own error as well as ours
                    found = [str(error).splitlines()[0]]
                passed, failed = passed + (not found), failed + bool(found)
                for sentence in found:
                    print(f"{kind}, {way}: {sentence}", flush=True)
                if not options.keep and os.path.exists(file):
                    os.unlink(file)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
