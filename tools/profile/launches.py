#!/usr/bin/env python3
"""Measures what launching work on the GPU of this machine costs, from single operators to training steps.

    python3 tools/profile/launches.py --out launches.json --date 2026-08-21

Six sections run one after the other, each in a process of its own with a share of --budget seconds: the
host's time to issue a launch (issue), small layers eager, compiled and captured (layers), a 1B model likewise
(whole), training steps of transformers (trainer), library memory (memory), and 8-bit casts and products
(eight_bit).
The document is written anew with every row, so that a run that is stopped leaves what it has measured.
"""
import argparse
import contextlib
import gc
import importlib
import json
import os
import platform
import shlex
import signal
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# Python has a module `profile` too, which torch's compiler needs: see profile.py.
sys.path = [entry for entry in sys.path if os.path.abspath(entry or ".") != HERE]


@contextlib.contextmanager
def own_folder():
    sys.path.insert(0, HERE)
    try:
        yield
    finally:
        sys.path[:] = [entry for entry in sys.path if entry != HERE]


with own_folder():
    import launch_sections as sections

START_S = 90  # the longest that a section may take to import its libraries


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--out", metavar="FILE", help="where the measurements go; a log goes to FILE.log")
    add("--budget", type=float, default=480.0, help="seconds for all sections together (default: 480)")
    add("--only", metavar="SECTIONS", help="names or letters A to F, separated by commas")
    add("--date", default="", help="the day of the run, for the document")
    add("--device", choices=("cuda", "cpu"), default="cuda", help="cpu tries the code alone")
    add("--tiny", action="store_true", help="small sizes, to try the code")
    add("--section", help=argparse.SUPPRESS)  # what the processes of the sections are started with
    chosen = parser.parse_args()
    if not chosen.section and not chosen.out:
        parser.error("--out FILE is needed")
    try:
        chosen.names = sections.chosen_sections(chosen.only)
    except ValueError as error:
        parser.error(str(error))
    return chosen


def one_section(options):
    """The process of one section: imports, says so, waits for its seconds on stdin, measures. Rows go to the
    pipe that was stdout; what libraries print goes to the log."""
    pipe = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def emit(key, fields):
        pipe.write(json.dumps({"key": key, "fields": fields}, default=str) + "\n")

    import torch
    with own_folder():
        import launch_context
        module = importlib.import_module(sections.MODULES[options.section])
    getattr(module, "prepare", lambda: None)()
    emit(None, {"ready": True})
    line = sys.stdin.readline()
    if not line:
        return 1
    deadline = time.monotonic() + float(line)
    torch.manual_seed(1)
    context = launch_context.Context(torch, options.device, options.tiny, emit, deadline)
    gc.freeze()  # a collection then costs little: it passes over what was imported
    # Python's collector stays on where memory is measured, as it is in training.
    with launch_context.collector_off() if module.COLLECTOR_OFF else contextlib.nullcontext():
        module.measure(context)
    emit(None, {"done": True})
    return 0


class Child:
    """A section's process and the thread that takes its rows."""

    def __init__(self, name, options, log, gathered, lock):
        command = [sys.executable, os.path.abspath(__file__), "--section", name, "--device", options.device]
        self.name, self.gathered, self.lock = name, gathered, lock
        self.out = options.out
        self.ready, self.done = threading.Event(), False
        self.process = subprocess.Popen(command + (["--tiny"] if options.tiny else []), stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=log, text=True, process_group=0)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if entry["key"] is None:
                self.done = self.done or "done" in entry["fields"]
                self.ready.set()
                continue
            with self.lock:
                self.gathered.add(self.name, entry["key"], entry["fields"])
                self.gathered.write(self.out)
        self.ready.set()  # a process that ended is waited for no longer

    def run(self, seconds):
        """The state in which the section ended."""
        if self.process.poll() is not None:
            return f"ended with {self.process.returncode} before it was measured"
        try:
            self.process.stdin.write(f"{seconds}\n")
            self.process.stdin.flush()
        except OSError:
            return "ended before it was measured"
        try:
            self.process.wait(timeout=seconds + sections.GRACE_S)
        except subprocess.TimeoutExpired:
            self.end()
            return "stopped at its time limit"
        self.reader.join(timeout=5)
        return "complete" if self.done else f"ended with {self.process.returncode}"

    def end(self):
        """The process and those of the compiler that it started."""
        if self.process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=5)


def processor_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def asked(*command):
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
        return found.strip().splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError):
        return None


def version_of(package):
    from importlib import metadata
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def environment():
    query = "name,driver_version,memory.total,memory.used,clocks.sm,clocks.max.sm,power.limit,temperature.gpu"
    packages = ("torch", "transformers", "accelerate", "peft", "triton", "nvidia-nccl-cu13")
    return {"processor": processor_name(), "cores": os.cpu_count(), "kernel": platform.release(),
            "python": platform.python_version(), **{name: version_of(name) for name in packages},
            "driver": asked("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"),
            "gpu_before": {"query": query, "answer": asked("nvidia-smi", f"--query-gpu={query}",
                                                           "--format=csv,noheader,nounits")}}


def run(options):
    begun = time.monotonic()
    command = shlex.join(["python3", "tools/profile/launches.py"] + sys.argv[1:])
    gathered = sections.Gathered({"date": options.date, "command": command, "budget_s": options.budget,
                                  "device": options.device, "tiny": options.tiny,
                                  "environment": environment()})
    gathered.write(options.out)
    lock = threading.Lock()
    with open(f"{options.out}.log", "w", encoding="utf-8") as log:
        # All import their libraries at once, before the first measures: a quiet machine and no time lost.
        children = {name: Child(name, options, log, gathered, lock) for name in options.names}

        def stop(number, frame):
            for child in children.values():
                child.end()
            sys.exit(130)

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        for child in children.values():
            child.ready.wait(max(0.0, begun + START_S - time.monotonic()))
        print(f"libraries imported after {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
        for number, name in enumerate(options.names):
            started = time.monotonic()
            seconds = sections.share_of(name, options.names[number:], begun + options.budget - started)
            state = children[name].run(seconds)
            children[name].end()
            if state == "complete" and gathered.counts(name)[2]:
                state = "out of time"
            with lock:
                gathered.close(name, state, time.monotonic() - started)
                gathered.write(options.out)
            rows, errors, skipped = gathered.counts(name)
            print(f"{name}: {state} after {time.monotonic() - started:.0f} of {seconds:.0f} s, {rows} rows, "
                  f"{errors} errors, {skipped} skipped", file=sys.stderr, flush=True)
    print(f"{options.out}: {time.monotonic() - begun:.0f} s", file=sys.stderr)
    return 0


def main():
    options = arguments()
    return one_section(options) if options.section else run(options)


if __name__ == "__main__":
    sys.exit(main())
