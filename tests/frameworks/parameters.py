"""Counts the parameters of models by the frameworks' own code on meta tensors, and compares them with ours:
every model by Transformers from the config.json that we ship, some by torchtitan's and Megatron-core's
models as well.

    parameters.py --nest PROGRAM     the last line is "N passed, N failed"
"""

import argparse
import json
import logging
import os
import sys
import tempfile
import traceback
import warnings

import torch

from random_plans import run

logging.disable(logging.WARNING)
warnings.filterwarnings("ignore")

MODELS = ["llama2-7b", "llama3.1-8b", "llama3.1-70b", "llama3.2-1b", "mistral-7b", "mixtral-8x7b", "qwen2-7b",
          "qwen3-8b", "qwen3-30b-a3b", "gemma2-9b", "phi-3-mini", "gpt2-xl", "deepseek-v2-lite",
          "deepseek-v3"]
TITAN = {"llama3.1-8b": ("llama3", "8B"), "llama3.1-70b": ("llama3", "70B"),
         "llama3.1-405b": ("llama3", "405B"),
         "qwen3-8b": ("qwen3", "8B"), "qwen3-30b-a3b": ("qwen3", "30B-A3B"),
         "deepseek-v2-lite": ("deepseek_v3", "16B"), "deepseek-v3": ("deepseek_v3", "671B")}
# Models that Megatron-core's plain layers have (those with experts want a GPU); exports for one device give
# the flags.
MEGATRON = ["llama2-7b", "llama3.1-8b", "mistral-7b", "qwen3-8b"]
ONE_DEVICE = {"training": {"global_batch": 1, "sequence": 512, "micro_batch": 1, "micro_batches": 1},
              "parallelism": {"tensor": 1, "pipeline": 1, "data": 1, "zero": 0}}


def by_transformers(models, name):
    from transformers import AutoConfig, AutoModelForCausalLM

    with open(os.path.join(models, f"{name}.json"), encoding="utf-8") as file:
        fields = json.load(file)
    fields.pop("nest", None)
    config = AutoConfig.for_model(fields.pop("model_type"), **fields)
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(config)


def by_torchtitan(family, flavor):
    from torchtitan.protocols.train_spec import get_train_spec

    spec = get_train_spec(family)
    arguments = spec.model_args[flavor]
    if not hasattr(arguments, "moe_impl"):
        arguments.moe_impl = "standard"  # which torchtitan takes from its job config
    with torch.device("meta"):
        return spec.model_cls(arguments)


def by_megatron(nest, name):
    from megatron_core import model_of

    with tempfile.TemporaryDirectory() as folder:
        degrees, plan, out = (os.path.join(folder, n) for n in ("degrees.json", "plan.json", "export"))
        with open(degrees, "w", encoding="utf-8") as file:
            json.dump(ONE_DEVICE, file)
        run([nest, "evaluate", degrees, "--model", name, "-o", plan])
        run([nest, "export", plan, "--to", "megatron", "--out", out])
        with open(plan, encoding="utf-8") as file:
            return model_of(json.load(file), out)


def counted(name, model):
    """Each tensor once, however many modules have it. DeepSeek-V3 has biases of routers that no gradient
    trains: buffers for the frameworks, parameters for us, because checkpoints have them. torchtitan adds
    such biases to every model with experts."""
    kept = list(model.parameters())
    if name == "deepseek-v3":
        ends = ("e_score_correction_bias", "expert_bias")
        kept += [buffer for key, buffer in model.named_buffers() if key.endswith(ends)]
    return sum(tensor.numel() for tensor in kept)


def ours(nest, name):
    return json.loads(run([nest, "models", "show", name, "--json"]).stdout)["parameters"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nest", default="build/nest")
    parser.add_argument("--models", default="data/models")
    options = parser.parse_args()
    rows = [("transformers", name, lambda n=name: by_transformers(options.models, n)) for name in MODELS]
    rows += [("torchtitan", name, lambda a=a: by_torchtitan(*a)) for name, a in TITAN.items()]
    rows += [("megatron-core", name, lambda n=name: by_megatron(options.nest, n)) for name in MEGATRON]
    passed = failed = 0
    for framework, name, build in rows:
        try:
            theirs = counted(name, build())
        except Exception:
            traceback.print_exc(file=sys.stdout)
            theirs = 0
        own = ours(options.nest, name)
        equal = theirs == own
        print(f"{framework} {name}: {theirs:,}" + ("" if equal else f", but ours {own:,}, {own - theirs:+,}"),
              flush=True)
        passed, failed = passed + equal, failed + (not equal)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
