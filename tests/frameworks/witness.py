"""Torch as the witness: the collectives and the memory of plans as torch's own parallelism has them, on fake
tensors, beside what nest says of the same plans.

    witness.py --nest PROGRAM [--only ROW,ROW..] [--table FILE]     the last line is "N passed, N failed"
"""

import argparse
import json
import os
import sys
import tempfile
import traceback
from collections import Counter

import witness_differences
from witness_ours import ours
from witness_plans import PLANS, make_plan
from witness_rank import witness

ROUNDING = 1e-5  # a trace rounds every call up to whole bytes
MEMORY = 0.05


def compare(config, plan, index, own, torchs):
    """The rules that were needed, what is still unequal, and the ratio of memory."""
    theirs = Counter()
    for kind, axis, members, size in torchs["calls"]:
        theirs[kind, axis, members] += size
    expected = Counter(own["calls"])
    rules = witness_differences.differences(config, plan, index, torchs["order"])
    for found in rules.values():
        for key, size in found.items():
            expected[key] += size
    wrong = {key: (expected[key], theirs[key]) for key in expected.keys() | theirs.keys()
             if abs(expected[key] - theirs[key]) > max(64, ROUNDING * theirs[key])}
    plain = own["memory"]["total_bytes"]
    more = witness_differences.memory(config, plan, index, torchs["order"])
    ratios = (plain / torchs["peak"], (plain + sum(more.values())) / torchs["peak"])
    return rules.keys() | more.keys(), wrong, ratios, sum(theirs.values())


def spelled(plan):
    p = plan["parallelism"]
    names = (("tensor", "t"), ("context", "c"), ("expert", "e"), ("pipeline", "p"), ("interleave", "v"),
             ("data", "d"), ("zero", "ZeRO "), ("zero_shards", "over "))
    words = [f"{short}{p[name]}" for name, short in names if p[name] > 1 or name == "zero"]
    if p["context"] > 1:
        words.append(p["context_method"])
    return " ".join(words) + f", {plan['training']['micro_batches']} x {plan['training']['micro_batch']}"


def row_of(nest, folder, row):
    config, file = make_plan(nest, folder, row)
    with open(file, encoding="utf-8") as opened:
        plan = json.load(opened)
    own, torchs = ours(nest, file, plan), witness(config, plan)
    rules, wrong, ratios, traffic = set(), [], [], 0
    for index, (mine, other) in enumerate(zip(own, torchs)):
        found, unequal, ratio, size = compare(config, plan, index, mine, other)
        rules.update(found)
        wrong += [f"stage {index} {' '.join(map(str, key))}: expected {a}, torch {b}"
                  for key, (a, b) in sorted(unequal.items())]
        ratios.append(ratio)
        traffic += size
    return {"plan": spelled(plan), "model": PLANS[row][0], "rules": sorted(rules), "wrong": wrong,
            "ratios": ratios, "traffic": traffic}


def line(number, found):
    bytes_text = "equal" if not found["wrong"] else "differ"
    plain, after = (", ".join(f"{ratio[i]:.3f}" for ratio in found["ratios"]) for i in (0, 1))
    rules = ", ".join(found["rules"]) or "-"
    return (f"| {number} | {found['model']}, {found['plan']} | {found['traffic'] / 1e6:,.0f} | {bytes_text} "
            f"| {rules} | {plain} | {after} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nest", default="build/nest")
    parser.add_argument("--only", default="", help="rows of the table, separated by commas")
    parser.add_argument("--table", help="also write the table to a file")
    options = parser.parse_args()
    chosen = [int(n) - 1 for n in options.only.split(",") if n] or range(len(PLANS))
    lines = ["| | plan | MB of a step | bytes | rules | memory, ours over torch's | after the rules |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    passed = failed = plain = near = stages = 0
    with tempfile.TemporaryDirectory() as folder:
        for row in chosen:
            try:
                found = row_of(os.path.abspath(options.nest), folder, row)
            except Exception:  # one plan that fails must not hide the others
                traceback.print_exc()
                print(f"row {row + 1} ({' '.join(map(str, PLANS[row]))}) failed", flush=True)
                failed += 1
                continue
            lines.append(line(row + 1, found))
            print(lines[-1], flush=True)
            for text in found["wrong"]:
                print("   ", text, flush=True)
            passed, failed = passed + (not found["wrong"]), failed + bool(found["wrong"])
            plain += sum(abs(ratio[0] - 1) <= MEMORY for ratio in found["ratios"])
            near += sum(abs(ratio[1] - 1) <= MEMORY for ratio in found["ratios"])
            stages += len(found["ratios"])
    if options.table:
        with open(options.table, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    print(f"memory within {MEMORY:.0%}: {plain} of {stages} stages, {near} after the rules")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
