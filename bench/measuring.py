"""For the benchmarks of the search: one run of a command, its time, processor time, memory and answer.

    run = measuring.run([nest, "plan", "--json", "--stats"])
    print(run.cpu_s, run.search_s)
"""
import collections
import json
import os
import subprocess
import tempfile
import time

LONGEST_RUN_S = 300
# status: of the plan, or "" where there is none. search_s: all phases of `--stats`, by the clock.
Run = collections.namedtuple("Run", "wall_s cpu_s peak_mb search_s status")


class Failed(Exception):
    """A command that did not answer, in a sentence."""


def run(words):
    """Memory by GNU time: a direct child of Python would count Python's memory from before it began."""
    if not os.path.exists("/usr/bin/time"):
        raise Failed("the memory is measured by GNU time; install it with: apt-get install time")
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report")
        with open(os.path.join(folder, "answer"), "w+", encoding="utf-8") as answer:
            whole = ["timeout", str(LONGEST_RUN_S), "/usr/bin/time", "-q", "-f", "%M", "-o", report, *words]
            began = time.perf_counter()
            with subprocess.Popen(whole, stdout=answer, stderr=subprocess.DEVNULL) as child:
                _, status, usage = os.wait4(child.pid, 0)
                wall_s = time.perf_counter() - began
                child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode not in (0, 3):  # 3: no plan is feasible, which is an answer too
                raise Failed(f"'{' '.join(words)}' ended with status {child.returncode}")
            answer.seek(0)
            search_s, plan_status = read(answer.read())
        with open(report, encoding="utf-8") as file:
            peak_mb = int(file.read().split()[-1]) * 1024 / 1e6
    return Run(wall_s, usage.ru_utime + usage.ru_stime, peak_mb, search_s, plan_status)


def read(text):
    """(seconds of the search, status of the plan)"""
    if not text.startswith("{"):
        return None, ""
    document = json.loads(text)
    seconds = document.get("search", {}).get("seconds")
    return (sum(seconds.values()) if seconds else None), document.get("status", "")


def machine():
    """In words."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    return f"{os.cpu_count()} cores of an {names[0] if names else 'unknown processor'}"
