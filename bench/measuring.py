"""For the benchmarks of the search: one run of a command, its time, processor time, memory and answer.

    run = measuring.run([nest, "plan", "--json", "--stats"])
    print(run.cpu_s, run.search_s)
"""
import collections
import json
import os
import signal
import subprocess
import tempfile
import time

LONGEST_RUN_S = 300
# status: of the plan, or "" where there is none. search_s: all phases of `--stats`, by the clock.
Run = collections.namedtuple("Run", "wall_s cpu_s peak_mb search_s status")


class Failed(Exception):
    """A command that did not answer, in a sentence."""


def run(words):
    return run_text(words)[0]


def run_text(words, allowed=(0, 3), cpu_limit_s=None):
    """The run and what it printed. After `cpu_limit_s` seconds of processor time the command is interrupted,
    as by Ctrl-C. Memory by GNU time: a direct child of Python would count Python's memory from before it
    began."""
    if not os.path.exists("/usr/bin/time"):
        raise Failed("the memory is measured by GNU time; install it with: apt-get install time")
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report")
        with open(os.path.join(folder, "answer"), "w+", encoding="utf-8") as answer:
            whole = ["timeout", str(LONGEST_RUN_S), "/usr/bin/time", "-q", "-f", "%M", "-o", report, *words]
            began = time.perf_counter()
            with subprocess.Popen(whole, stdout=answer, stderr=subprocess.DEVNULL) as child:
                if cpu_limit_s is not None:
                    interrupt_after(child.pid, cpu_limit_s)
                _, status, usage = os.wait4(child.pid, 0)
                wall_s = time.perf_counter() - began
                child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode not in allowed:  # 3: no plan is feasible, which is an answer too
                raise Failed(f"'{' '.join(words)}' ended with status {child.returncode}")
            answer.seek(0)
            text = answer.read()
            search_s, plan_status = read(text)
        with open(report, encoding="utf-8") as file:
            peak_mb = int(file.read().split()[-1]) * 1024 / 1e6
    return Run(wall_s, usage.ru_utime + usage.ru_stime, peak_mb, search_s, plan_status), text


def interrupt_after(pid, cpu_s):
    """Waits until the innermost child of a process ends, and interrupts it if it works longer."""
    interrupted = False
    while True:
        try:
            worker = pid
            while True:
                with open(f"/proc/{worker}/task/{worker}/children", encoding="utf-8") as file:
                    children = file.read().split()
                if not children:
                    break
                worker = int(children[0])
            with open(f"/proc/{worker}/stat", encoding="utf-8") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:  # it ended between two looks
            continue
        if worker == pid and fields[0] == "Z":
            return
        ticks = int(fields[11]) + int(fields[12])
        if worker != pid and not interrupted and ticks / os.sysconf("SC_CLK_TCK") >= cpu_s:
            os.kill(worker, signal.SIGINT)
            interrupted = True
        time.sleep(0.005)


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
