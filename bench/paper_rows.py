#!/usr/bin/env python3
"""Time and memory of `nest plan` on the NEST paper's instances: its layer profiles on 64 to 1,024 devices of
its clusters, 4,096 sequences a step. Prints the median of so many runs: wall clock, the search's own time,
CPU time, peak memory, and what was found.

    bench/paper_rows.py [--nest build/nest] [--runs 3] [--devices 64,1024] [--profiles WORD] [-- OPTIONS]

Profiles are those of NEST_SHARED (default ../shared); options after -- go to `nest plan`.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEARCH_MS, WALL_MS, PEAK_MB = 20, 60, 50  # what each row should stay below


def cluster_of(profile):
    return "paper-tpuv4-fat-tree" if profile.startswith("tpuv4") else "paper-h100-spine-leaf"


def run(nest, profile, devices, more):
    """Wall, search and CPU milliseconds, peak MB, and the answer."""
    words = [nest, "plan", "--model", profile, "--cluster", cluster_of(profile.name), "--devices", str(devices),
             "--global-batch", "4096", "--stats", "--json", *more]
    began = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    text = process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = 0  # taken by wait4
    answer = json.loads(text) if text else {}
    phases = answer.get("search", {}).get("seconds", {})
    return (wall * 1e3, sum(phases.values()) * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3,
            usage.ru_maxrss / 1e3, answer)


def found(answer):
    if "parallelism" not in answer:
        return answer.get("status", "no answer")
    p = answer["parallelism"]
    return (f"t{p['tensor']} p{p['pipeline']} d{p['data']} z{p['zero']} v{p['interleave']} {p['recompute']}"
            f" {answer['predicted']['step_s']:.4g} s" + ("" if answer["status"] == "optimal" else " UNPROVED"))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--nest", default=str(ROOT / "build" / "nest"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--devices", default="64,128,256,512,1024")
    parser.add_argument("--profiles", default="", help="only those whose names hold this")
    parser.add_argument("more", nargs="*")
    options = parser.parse_args()
    folder = pathlib.Path(os.environ.get("NEST_SHARED", ROOT.parent / "shared")) / "paper" / "profiles"
    profiles = sorted(p for p in folder.glob("*.json") if options.profiles in p.name)
    if not profiles:
        print(f"SKIPPED: no profiles in {folder}")
        return 0
    print(f"{'instance':38} {'wall ms':>9} {'search ms':>9} {'CPU ms':>9} {'peak MB':>8}  found")
    worst = [0.0] * 4
    over = 0
    for profile in profiles:
        for devices in map(int, options.devices.split(",")):
            runs = [run(options.nest, profile, devices, options.more) for _ in range(options.runs)]
            row = [statistics.median(r[i] for r in runs) for i in range(4)]
            worst = [max(a, b) for a, b in zip(worst, row)]
            missed = row[0] > WALL_MS or row[1] > SEARCH_MS or row[3] > PEAK_MB
            over += missed
            print(f"{profile.stem + '_' + str(devices):38} {row[0]:9.1f} {row[1]:9.1f} {row[2]:9.1f} {row[3]:8.1f}"
                  f"  {found(runs[0][4])}{'  *' if missed else ''}", flush=True)
    print(f"{'worst':38} {worst[0]:9.1f} {worst[1]:9.1f} {worst[2]:9.1f} {worst[3]:8.1f}")
    print(f"{over} rows above {WALL_MS} ms wall, {SEARCH_MS} ms search or {PEAK_MB} MB (*)")
    return 0


sys.exit(main())
