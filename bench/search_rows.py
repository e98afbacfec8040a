#!/usr/bin/env python3
"""Time and memory of `nest plan`: bench/search_rows.py [--nest PATH] [--runs N] [--only-paper].

Prints two markdown tables. The first has the searches with a goal, each as JSON and as text (text also proves
three runners-up), median of the runs. The second has the layer profiles of the NEST paper (NEST_SHARED,
default ../shared, folder paper/profiles) on 64 to 1,024 devices: every instance once, then the slowest three
again; each time is the worst of those, the memory the most of all. --only-paper leaves out the first table.

Wall time is the command's, start included. On a machine that does other work too, it says more about that
work than about the search: CPU time (user and system, all threads) is the honest figure there.
"""
import argparse
import os
import pathlib
import statistics
import sys

import measuring

ROOT = pathlib.Path(__file__).resolve().parent.parent
GPT3 = "--model gpt3-175b --global-batch 1536 --sequence 2048"
# command, wall s and peak MB that it may take
ROWS = [
    (GPT3, "0.5 s, 200 MB"),
    ("--model llama3.1-70b --global-batch 2048 --sequence 8192", "0.5 s, 200 MB"),
    ("--model llama3.1-405b --devices 16384 --global-batch 2048 --sequence 8192", "1 s, 300 MB"),
    ("--model deepseek-v3 --cluster h800-rail --global-batch 4096 --sequence 4096", "2 s, 300 MB"),
    ("--model llama3.1-405b --cluster mega-131072 --global-batch 16384 --sequence 8192", "5 s, 500 MB"),
    ("--model t5-11b --devices 512 --global-batch 2048 --sequence 512", "1 s, 300 MB"),
    ("--model clip-vit-large-patch14 --devices 512 --global-batch 2048", "1 s, 300 MB"),
    (GPT3 + " --mixed --gap 1%", "5 s, 2 GB"),
    (GPT3 + " --mixed", "60 s, 2 GB"),
]
PAPER_DEVICES = (64, 128, 256, 512, 1024)
PAPER_GOAL = "0.06 s, search 0.02 s, 50 MB"
PAPER_CHOICES = "--zero 0 --schedule 1f1b --interleave 1 --recompute none,full"  # those of the paper
MEASURED_AGAIN = 3  # of the paper's instances


def median(runs):
    """Of each column; the statuses are all the same."""
    columns = [None if None in values else statistics.median(values) for values in list(zip(*runs))[:-1]]
    return measuring.Run(*columns, runs[0].status)


def cells(run):
    search = "" if run.search_s is None else f"{run.search_s:.3f}"
    return f"{run.wall_s:.2f} | {run.cpu_s:.3f} | {search} | {run.peak_mb:.0f}"


def print_rows(nest, count):
    print("| search | answer | wall s | CPU s | search s | peak MB | goal |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for command, goal in ROWS:
        words = [nest, "plan", *command.split()]
        as_json = median([measuring.run([*words, "--stats", "--json"]) for _ in range(count)])
        as_text = median([measuring.run(words) for _ in range(count)])
        print(f"| `{command}` | {as_json.status} | {cells(as_json)} | {goal} |")
        print(f"| the same, as text | | {cells(as_text)} | |", flush=True)


def measured(nest, instances, choices, count):
    """Each instance once, the slowest with a plan and the slowest without one again: name to run."""
    commands = {f"{file.stem} on {devices:,}": command_of(nest, file, devices, choices)
                for file, devices in instances}
    runs = {name: measuring.run(command) for name, command in commands.items()}
    for planned in (True, False):
        for name in slowest_first(runs, planned)[:MEASURED_AGAIN]:
            again = [measuring.run(commands[name]) for _ in range(count - 1)]
            runs[name] = median([runs[name], *again])
    return runs


def slowest_first(runs, planned):
    names = [name for name, run in runs.items() if (run.status != "infeasible") == planned]
    return sorted(names, key=lambda name: -runs[name].cpu_s)


def print_worst(title, runs, planned):
    names = slowest_first(runs, planned)
    if not names:
        return
    again = [runs[name] for name in names[:MEASURED_AGAIN]]
    times = measuring.Run(*(max(run[column] for run in again) for column in range(4)), "")
    worst = times._replace(peak_mb=max(runs[name].peak_mb for name in names))
    middle = statistics.median(runs[name].cpu_s for name in names)
    answer = "a plan" if planned else "nothing fits, and what would"
    print(f"| {title}: {answer} | {len(names)} | {names[0]} | {cells(worst)} | {middle:.3f} | {PAPER_GOAL} |",
          flush=True)


def command_of(nest, file, devices, choices):
    cluster = "paper-tpuv4-fat-tree" if file.stem.startswith("tpuv4") else "paper-h100-spine-leaf"
    place = ["--cluster", cluster, "--devices", str(devices), "--recipe", "plain", "--global-batch", "4096"]
    return [nest, "plan", "--model", str(file), *place, *choices.split(), "--stats", "--json"]


def print_paper(nest, count):
    folder = pathlib.Path(os.environ.get("NEST_SHARED", ROOT.parent / "shared"), "paper", "profiles")
    files = sorted(folder.glob("*.json"))
    if not files:
        print(f"The paper's profiles are not measured: there are none in {folder}.")
        return
    instances = [(file, devices) for file in files for devices in PAPER_DEVICES]
    print("| choices and answer | instances | the slowest | wall s | CPU s | search s | peak MB "
          "| CPU s of the middle one | goal |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for title, choices in (("the paper's choices", PAPER_CHOICES), ("every choice free", "")):
        runs = measured(nest, instances, choices, count)
        for planned in (True, False):
            print_worst(title, runs, planned)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--nest", default=str(ROOT / "build" / "nest"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only-paper", action="store_true")
    options = parser.parse_args()
    print(f"{measuring.machine()}, load {os.getloadavg()[0]:.1f} at the start\n")
    try:
        if not options.only_paper:
            print_rows(options.nest, options.runs)
            print()
        print_paper(options.nest, options.runs)
    except measuring.Failed as failure:
        sys.exit(f"search_rows: {failure}")


main()
