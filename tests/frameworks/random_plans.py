"""Random plans that a target can run: degrees by dice, completed by `nest evaluate`, written by `nest
export`. Those that are refused are thrown again. The seed is printed, and gives the same plans again."""

import json
import os
import random
import shutil
import subprocess

MODELS = ["llama3.1-8b", "llama3.2-1b", "gpt2-xl", "mixtral-8x7b", "deepseek-v2-lite", "qwen2.5-7b",
          "qwen3-8b"]
WITH_EXPERTS = {"mixtral-8x7b", "deepseek-v2-lite"}


def degrees(dice, model):
    t = dice.choice([1, 1, 2, 4, 8])
    c = dice.choice([1, 1, 1, 2, 4])
    e = dice.choice([1, 2, 4]) if model in WITH_EXPERTS else 1
    p = dice.choice([1, 1, 2, 4])
    v = dice.choice([1, 1, 2]) if p > 1 else 1
    data = dice.choice([1, 2, 4, 8]) * e
    zero = dice.randrange(4)
    m = dice.randrange(1, 5) * p
    b = dice.choice([1, 2])
    parallelism = {"tensor": t, "sequence_parallel": t > 1 and dice.random() < 0.8, "context": c,
                   "context_method": dice.choice(["ring", "all_to_all"]), "expert": e,
                   "expert_tensor": dice.choice([1, t]) if e > 1 else t, "pipeline": p, "data": data,
                   "zero": zero,
                   "interleave": v, "schedule": "interleaved" if v > 1 else "1f1b",
                   "recompute": dice.choice(["none", "none", "full", "selective"])}
    if c == 4 and dice.random() < 0.5:
        parallelism |= {"context_method": "hybrid", "context_inner": 2}
    training = {"global_batch": b * m * data, "sequence": dice.choice([512, 1024]), "micro_batch": b,
                "micro_batches": m}
    return {"training": training, "parallelism": parallelism}


def run(command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def random_exports(nest, target, count, seed, folder, tries=6000):
    """Yields (plan, folder of its export), as many as wanted or as the tries give."""
    dice = random.Random(f"{target} {seed}")
    degrees_file, plan_file = os.path.join(folder, "degrees.json"), os.path.join(folder, "plan.json")
    out, found = os.path.join(folder, "export"), 0
    for _ in range(tries):
        if found == count:
            return
        model = dice.choice(MODELS)
        with open(degrees_file, "w", encoding="utf-8") as file:
            json.dump(degrees(dice, model), file)
        shutil.rmtree(out, ignore_errors=True)
        asked = [nest, "evaluate", degrees_file, "--model", model, "--recipe", target, "-o", plan_file]
        written = [nest, "export", plan_file, "--to", target, "--out", out]
        if any(run(command).returncode != 0 for command in (asked, written)):
            continue
        found += 1
        with open(plan_file, encoding="utf-8") as file:
            yield json.load(file), out
