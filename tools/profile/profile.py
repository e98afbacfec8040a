#!/usr/bin/env python3
"""Measures the GPU of this machine and writes an accelerator profile for NEST.

    python3 tools/profile/profile.py --out h200.json

takes under ten minutes and needs torch alone. docs/formats/accelerator-profile.md describes the file.
"""
import argparse
import contextlib
import gc
import os
import shlex
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# Python has a module `profile` too, which torch's compiler needs, also in processes that it starts with our
# path: so this folder is on the path only while our own modules are imported.
sys.path = [entry for entry in sys.path if os.path.abspath(entry or ".") != HERE]


@contextlib.contextmanager
def own_folder():
    sys.path.insert(0, HERE)
    try:
        yield
    finally:
        sys.path.remove(HERE)


with own_folder():
    import document
    import points_other as grids
    import registry
    from progress import Progress

RESERVE_S = 5  # kept for writing
SAVE_EVERY_S = 45
EXAMPLES = """examples:
  everything but compiled layers, 9 minutes at most:
    python3 tools/profile/profile.py --out h200.json
  a few points of every kind, about a minute:
    python3 tools/profile/profile.py --quick --out try.json
  20 layers through torch.compile, joined with the rest:
    python3 tools/profile/profile.py --only layers-compiled --out compiled.json
    python3 tools/profile/profile.py --merge h200.json compiled.json --out h200.json
  what would be measured; needs no torch:
    python3 tools/profile/profile.py --list
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--out", metavar="FILE", help="where the profile goes")
    add("--minutes", type=float, default=9.0, help="stop before this many minutes (default: 9)")
    add("--quick", action="store_true", help="a few cheap points of every kind")
    add("--only", metavar="KINDS", help="kinds or groups, separated by commas; --list names them")
    add("--list", action="store_true", help="print kinds, points and estimated time, and stop")
    add("--merge", nargs="+", metavar="FILE", help="join profiles of one device, later rows win, and stop")
    add("--accelerator", metavar="NAME", help="name in the catalogue (default: from the device's name)")
    add("--dtype", choices=("bf16", "fp16"), default="bf16", help="16-bit type (default: bf16)")
    add("--device", type=int, default=0, help="which GPU (default: 0)")
    add("--forward", action="store_true",
        help="of matmul and of kinds with passes, the forward row alone")
    add("--same-buffers", action="store_true",
        help="do not rotate inputs: small shapes then run from the L2 cache")
    chosen = parser.parse_args()
    if not chosen.list and not chosen.out:
        parser.error("--out FILE is needed")
    try:
        every_kind = chosen.quick and not chosen.only
        chosen.kinds = tuple(grids.GRIDS) if every_kind else grids.chosen_kinds(chosen.only)
    except ValueError as error:
        parser.error(str(error))
    return chosen


def print_list(by_kind):
    total = 0.0
    print(f"{'kind':<16} {'points':>6} {'rows':>6} {'estimate':>9}")
    for kind, points in by_kind.items():
        cost = sum(p.cost_s for p in points)
        total += cost
        print(f"{kind:<16} {len(points):>6} {sum(p.rows for p in points):>6} {cost:>7.1f} s")
    count, rows = (sum(f(ps) for ps in by_kind.values()) for f in (len, lambda ps: sum(p.rows for p in ps)))
    print(f"{'together':<16} {count:>6} {rows:>6} {total:>7.1f} s")
    print(f"groups for --only: {', '.join(grids.GROUPS)}; without --only all but layers-compiled")


def reason_of(error):
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    return f"{type(error).__name__}: {first}"[:200]


class Stopped(BaseException):
    """A signal to end; no Exception, so that nothing on the way takes it for an error of its own."""


def stop(number, frame):
    raise Stopped(signal.Signals(number).name)


def add_result(made, point, result):
    section = registry.SECTION.get(point.kind)
    if section:
        made.add_whole(section, document.whole_key(section, result), result)
        return
    for row in result:
        made.add(point.kind, {**row, "split": point.split})


def measure_all(bench, made, points, options, begun, save):
    """True when every point had its turn."""
    torch, progress = bench.torch, Progress(sum(p.cost_s for p in points))
    deadline, saved, skipped = begun + options.minutes * 60 - RESERVE_S, time.monotonic(), 0
    for number, point in enumerate(points):
        if time.monotonic() + point.cost_s > deadline:
            skipped += 1
            continue
        reason = None
        try:
            add_result(made, point, registry.measuring(point.kind)(bench, point))
        except Exception as error:  # whatever a point does, the others are still wanted
            reason = reason_of(error)
        if reason:  # here the error is gone, and with it the tensors that its frames held
            made.fail(point.kind, point.key, reason)
            progress.note(f"{point.kind} {dict(point.key)}: {reason}")
            gc.collect()
            torch.cuda.synchronize()  # raises where the device itself is lost: then the run ends
            torch.cuda.empty_cache()
        if number % 100 == 99:
            torch.cuda.empty_cache()
        told = f"{point.kind} ({number + 1}/{len(points)}, {len(made.failed)} failed)"
        progress.advance(point.cost_s, told)
        if time.monotonic() - saved > SAVE_EVERY_S:
            save()
            saved = time.monotonic()
    progress.close()
    if skipped:
        print(f"out of time: {skipped} of {len(points)} points not measured", file=sys.stderr)
    return skipped == 0


def run(options):
    begun = time.monotonic()
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    try:
        import torch
    except ImportError:
        print("profile.py needs torch: https://pytorch.org/get-started", file=sys.stderr)
        return 1
    if not torch.cuda.is_available():
        print("profile.py: torch sees no GPU here", file=sys.stderr)
        return 1
    with own_folder():
        import device
        import timing
        registry.load()
    torch.cuda.set_device(options.device)
    torch.manual_seed(1)
    facts = device.header(torch, options.accelerator)
    command = shlex.join(["python3", "tools/profile/profile.py"] + sys.argv[1:])
    entry = {"date": started, "command": command, "seconds": 0.0, "complete": False}
    names = {name: facts.pop(name) for name in ("accelerator", "device_name")}
    made = document.Document({**names, "date": started, "command": command, "complete": False, **facts,
                              "dtype": options.dtype, "rotate": not options.same_buffers, "runs": [entry]})

    def save(complete=False):
        entry.update(seconds=round(time.monotonic() - begun, 1), complete=complete)
        made.header["complete"] = complete
        made.write(options.out)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    gc.disable()
    points = grids.ordered(grids.plan(options.kinds, options.quick))
    code, complete = 0, False
    try:
        bench = timing.Bench(torch, options.dtype, not options.same_buffers, options.forward)
        complete = measure_all(bench, made, points, options, begun, save)
        made.header["clocks_after"] = {k: v for k, v in device.query(torch).items() if k != "driver"}
    except Stopped as signal_name:
        print(f"\nstopped by {signal_name}: what was measured is written", file=sys.stderr)
        code = 130
    except Exception as error:
        print(f"\nthe device was lost: {reason_of(error)}; what was measured is written", file=sys.stderr)
        code = 1
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    save(complete)
    counts = f"{made.row_count()} rows, {len(made.failed)} failed, {entry['seconds']:.0f} s"
    print(f"{options.out}: {counts}", file=sys.stderr)
    return code


def main():
    options = arguments()
    if options.list:
        print_list(grids.plan(options.kinds, options.quick))
        return 0
    if options.merge:
        try:
            document.merged(options.merge).write(options.out)
        except (OSError, ValueError, KeyError) as error:
            print(f"profile.py: cannot merge: {reason_of(error)}", file=sys.stderr)
            return 1
        return 0
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
