"""Builds models of every described type by Transformers' own classes on the meta device, with other depths,
widths, heads, numbers of experts and switches than the class defaults, and compares their parameters with
ours. Each is read from three files: with all keys, with those that differ from a default instance, and with
those alone that were asked for.

    families.py --nest PROGRAM [--each N] [--write FILE] [TYPE...]

The last line is "N passed, N failed, N skipped"; skipped are those that ours refuses. --write keeps two
models of each type for tests/data/family_variants.jsonl.
"""

import argparse
import copy
import csv
import json
import logging
import os
import random
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor

import torch
import transformers
from transformers.initialization import no_init_weights
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

logging.disable(logging.WARNING)
warnings.filterwarnings("ignore")

DEPTHS = {"num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers",
          "depth", "num_decoder_layers"}
# Keys that no shape depends on, or that name what the file is of.
LEFT_ALONE = {"architectures", "model_type", "dtype", "transformers_version", "id2label", "label2id",
              "problem_type", "is_encoder_decoder", "chunk_size_feed_forward", "rope_parameters",
              "initializer_range", "use_cache", "return_dict", "output_hidden_states", "output_attentions"}
TOWERS_OF_TIMM = {"fast_vlm", "gemma3n"}  # another library builds these


def keys_of(group, before=()):
    for key, value in group.items():
        if not isinstance(key, str) or key in LEFT_ALONE or key.endswith("_token_id") or "dropout" in key:
            continue
        if isinstance(value, dict):
            yield from keys_of(value, (*before, key))
        else:
            yield (*before, key), value


def set_key(group, path, value):
    for key in path[:-1]:
        group = group.setdefault(key, {})
    group[path[-1]] = value


def other(dice, key, value):
    """Another value of the key, or none where nothing is to be learned from one."""
    if isinstance(value, bool):
        return not value
    if not isinstance(value, int):
        return None
    if "vocab" in key:
        return value + 128
    return dice.choice([2 * value, value // 2, value + 1] if value <= 8 else [2 * value, value // 2])


def asked_for(dice, default):
    """Keys of a variant: always another depth, and up to three other values."""
    keys = {}
    every = list(keys_of(default))
    for path, value in every:
        if path[-1] in DEPTHS and isinstance(value, int):
            set_key(keys, path, dice.choice([min(value, 4), min(value, 7), max(1, value // 2), value + 1]))
    rest = [(path, value) for path, value in every
            if path[-1] not in DEPTHS and other(dice, path[-1], value) is not None]
    for path, value in dice.sample(rest, min(len(rest), dice.randrange(4))):
        set_key(keys, path, other(dice, path[-1], value))
    return keys


def built(kind, architecture, keys):
    """(parameters, the configuration) of the model that Transformers makes of these keys."""
    config = CONFIG_MAPPING[kind](**copy.deepcopy(keys))
    cls = getattr(transformers, architecture)
    # As its automatic classes do where the file of a whole model names the class of its text.
    of_text = cls.config_class is config.sub_configs.get("text_config")
    with torch.device("meta"), no_init_weights():
        model = cls(config.get_text_config() if of_text else config)
    model.tie_weights()
    return sum(p.numel() for p in {id(p): p for p in model.parameters()}.values()), config


def files_of(kind, architecture, keys, config):
    texts = {"all keys": config.to_dict(), "what differs": config.to_diff_dict(), "in part": dict(keys)}
    for form, text in texts.items():
        text.update(model_type=kind, architectures=[architecture])
        yield form, text


def ours(nest, folder, number, text):
    """The parameters, or none where the file is refused."""
    file = os.path.join(folder, f"{number}.json")
    with open(file, "w", encoding="utf-8") as out:
        json.dump(text, out, default=str)
    command = [nest, "models", "show", file, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    os.unlink(file)
    if done.returncode == 1:
        return None
    return json.loads(done.stdout)["parameters"]


def variants_of(kind, architecture, each):
    dice = random.Random(f"{kind} {architecture}")
    default = built(kind, architecture, {})[1].to_dict()
    made = 0
    for _ in range(3 * each):
        if made == each:
            break
        keys = asked_for(dice, default)
        try:
            parameters, config = built(kind, architecture, keys)
        except Exception:  # no model of that class: heads that do not divide, a pattern of another length
            continue
        made += 1
        yield keys, parameters, config


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nest", default="build/nest")
    parser.add_argument("--table", default="tests/data/family_counts.csv")
    parser.add_argument("--each", type=int, default=8)
    parser.add_argument("--write")
    parser.add_argument("types", nargs="*")
    options = parser.parse_args()
    with open(options.table, encoding="utf-8") as file:
        types = [(row["model_type"], row["architecture"]) for row in csv.DictReader(file)]
    types = [row for row in types if row[0] not in TOWERS_OF_TIMM]
    if options.types:
        types = [row for row in types if row[0] in options.types]
    kept, passed, failed, skipped, number = [], 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        for kind, architecture in types:
            exact = []
            for keys, theirs, config in variants_of(kind, architecture, options.each):
                jobs = []
                for form, text in files_of(kind, architecture, keys, config):
                    number += 1
                    jobs.append((form, pool.submit(ours, options.nest, folder, number, text)))
                answers = [(form, job.result()) for form, job in jobs]
                wrong = [(form, own) for form, own in answers if own not in (theirs, None)]
                for form, own in wrong:
                    print(f"{kind} {architecture} {json.dumps(keys)}, {form}: {theirs:,}, but ours {own:,}",
                          flush=True)
                refused = sum(own is None for _, own in answers)
                passed += len(answers) - len(wrong) - refused
                failed, skipped = failed + len(wrong), skipped + refused
                if not wrong and refused == 0:
                    exact.append({"model_type": kind, "architecture": architecture, "keys": keys,
                                  "parameters": theirs})
            kept += exact[-2:]
    if options.write:
        with open(options.write, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(row) + "\n" for row in kept)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
