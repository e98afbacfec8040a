#!/usr/bin/env python3
r"""Makes data/uncertainty.yaml: how far measured runs lie from predictions, by what they are like.

    python3 tools/fit_uncertainty.py --runs runs.csv --tuned finetune.csv --memory memory.csv \
        > data/uncertainty.yaml

Of every stratum the quantiles of measured over predicted are written (conformal: the p-quantile is the
ceil(p (n + 1))-th of n). Fine-tuning has few sources, each of which lies to one side: there the sizes of
the errors are counted whatever their sign, and intervals reach equally far to both sides. How many runs
the 80 % intervals contain if a run's own source is left out of the fit is written too, and on standard error
of each source and of each stratum.
"""
import argparse
import csv
import datetime
import json
import math
import subprocess
import sys

UNSEEN = "software or accelerator without runs of its own"
SHARES = (2.5, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 97.5)


class Run:
    def __init__(self, detail, row, ratio):
        self.ratio, self.source, self.like = ratio, detail["source"], detail.get("like", "")
        self.tuned = "kind" in row and "gpu" in row
        if self.tuned:
            return
        self.experts = row.get("moe_experts", "") not in ("", "0")
        self.several = int(row["num_gpus"]) > int(row.get("gpus_per_node") or 8)
        self.framework = row["framework"]


def details(nest, option, file):
    out = subprocess.run([nest, "validate", option, file, "--json"], capture_output=True, text=True,
                         check=True)
    with open(file, newline="") as f:
        rows = list(csv.DictReader(f))
    # Tables of fine-tuning name no rows; all their rows are predicted, in their order.
    by_id = {row.get("id", d["id"]): row for row, d in zip(rows, json.loads(out.stdout)["details"])}
    by_id.update({row["id"]: row for row in rows if "id" in row})
    return [(d, by_id[d["id"]]) for d in json.loads(out.stdout)["details"] if "error" in d]


def nth(values, share):
    """Conformal: of n values the ceil(share (n + 1))-th."""
    values = sorted(values)
    at = math.ceil(share / 100 * (len(values) + 1))
    return values[min(max(at, 1), len(values)) - 1]


def quantile(runs, share):
    if not runs[0].tuned:
        return nth([r.ratio for r in runs], share)
    size = nth([abs(math.log(r.ratio)) for r in runs], abs(2 * share - 100)) if share != 50 else 0
    return math.exp(math.copysign(size, share - 50))


def strata_of_time(runs, unseen):
    runs = [r for r in runs if r.like != UNSEEN or not r.tuned]
    dense = [r for r in runs if not r.tuned and not r.experts]
    return [
        (UNSEEN, "compared: false", [r for r in unseen if not r.tuned]),
        ("fine-tuning", "tuned: true", [r for r in runs if r.tuned]),
        ("mixtures of experts", "experts: true", [r for r in runs if not r.tuned and r.experts]),
        ("dense models on one node", "several_nodes: false", [r for r in dense if not r.several]),
        ("dense models on several nodes", "", [r for r in dense if r.several]),
    ]


def strata_of_memory(runs):
    megatron = [r for r in runs if r.framework in ("megatron", "nemo-megatron")]
    return [
        ("Megatron", "compared: true, frameworks: megatron megatron-bridge", megatron),
        ("other software", "", [r for r in runs if r not in megatron]),
    ]


def left_out(runs, strata):
    """Coverage of the runs of each source by intervals that were fitted without them."""
    inside, by_stratum = {}, {}
    for source in sorted({r.source for r in runs}):
        others = strata([r for r in runs if r.source != source])
        own = strata([r for r in runs if r.source == source])
        for (name, _, fit), (_, _, test) in zip(others, own, strict=True):
            if not fit or not test:
                continue
            low, high = quantile(fit, 10), quantile(fit, 90)
            for seen in (inside.setdefault(source, [0, 0]), by_stratum.setdefault(name, [0, 0])):
                seen[0] += sum(low <= r.ratio <= high for r in test)
                seen[1] += len(test)
    for name, (good, all_) in [*inside.items(), *by_stratum.items()]:
        print(f"{name}: {good} of {all_}", file=sys.stderr)
    good, all_ = (sum(v[i] for v in inside.values()) for i in (0, 1))
    print(f"left out in turn: 80 % intervals contain {good / all_:.0%} of {all_} runs", file=sys.stderr)
    return {"rows": all_, "inside": good, "sources": " ".join(sorted({r.source for r in runs}))}


def write(title, strata):
    print(f"{title}:")
    for name, conditions, runs in strata:
        parts = [f"name: {name}"] + ([conditions] if conditions else []) + [f"rows: {len(runs)}"]
        parts += [f"q{share:g}: {quantile(runs, share):.4f}" for share in SHARES]
        print("  - {" + ", ".join(parts) + "}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nest", default="build/nest", help="the program (build/nest)")
    parser.add_argument("--runs", required=True, help="a table of measured steps")
    parser.add_argument("--tuned", required=True, help="a table of measured steps of fine-tuning")
    parser.add_argument("--memory", required=True, help="a table of measured memory")
    asked = parser.parse_args()
    times = details(asked.nest, "--runs", asked.runs) + details(asked.nest, "--runs", asked.tuned)
    runs = [Run(d, row, 1 / (1 + d["error"])) for d, row in times]
    unseen = [Run(d, row, 1 / (1 + d["unseen_error"])) for d, row in times]
    # Allocators reserve what they can: what they reserved is no need. Computed figures are no measurements.
    memory = [Run(d, row, 1 / (1 + d["error"]))
              for d, row in details(asked.nest, "--memory", asked.memory)
              if d["kind"] in ("allocated", "device")]
    print("# Measured over predicted, by what runs are like: the first entry that holds counts, and the last")
    print("# holds for all.")
    print(f"# Made by tools/fit_uncertainty.py on {datetime.date.today()}; docs/uncertainty.md.")
    write("time", strata_of_time(runs, unseen))
    write("memory", strata_of_memory(memory))
    print("# Whose runs they are, and how many the intervals contain that are made without a run's own "
          "source.")
    print("left_out:")
    for title, found in (("time", left_out(runs, lambda some: strata_of_time(some, some)[1:])),
                         ("memory", left_out(memory, strata_of_memory))):
        print(f"  {title}: {{" + ", ".join(f"{key}: {value}" for key, value in found.items()) + "}")


if __name__ == "__main__":
    main()
