#!/usr/bin/env python3
"""Measures what moves between the GPU of this machine and its host, and what optimizers take on either.

    python3 tools/profile/host_link.py --out h200.host.json

Copies from and to pinned memory by size, both ways at once, and beside products, which they slow down; the
update of Adam on the host's processors (torch's fused AdamW); steps of torch's Muon, whose orthogonalisation
is products. The document is written anew with every row.
"""

import argparse
import contextlib
import json
import os
import shlex
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# Python has a module `profile` too, which torch's compiler needs: see profile.py.
sys.path = [entry for entry in sys.path if os.path.abspath(entry or ".") != HERE]

MIB = 1 << 20


@contextlib.contextmanager
def own_folder():
    sys.path.insert(0, HERE)
    try:
        yield
    finally:
        sys.path[:] = [entry for entry in sys.path if entry != HERE]


def event_seconds(torch, run, times=5):
    """Median of what run() takes on the device, all of its streams joined to the current one."""
    spans = []
    for _ in range(times + 1):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        end.synchronize()
        spans.append(begin.elapsed_time(end) * 1e-3)
    return statistics.median(spans[1:])


def copies(torch):
    main = torch.cuda.current_stream()
    out, back = torch.cuda.Stream(), torch.cuda.Stream()
    for size in (MIB // 4, MIB, 4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB, 1024 * MIB):
        here = [torch.empty(size, dtype=torch.uint8, device="cuda") for _ in range(2)]
        there = [torch.empty(size, dtype=torch.uint8, pin_memory=True) for _ in range(2)]
        repeats = max(1, min(64, 256 * MIB // size))

        def to_host():
            for _ in range(repeats):
                there[0].copy_(here[0], non_blocking=True)

        def to_device():
            for _ in range(repeats):
                here[1].copy_(there[1], non_blocking=True)

        def both():
            for stream, run in ((out, to_host), (back, to_device)):
                stream.wait_stream(main)
                with torch.cuda.stream(stream):
                    run()
            for stream in (out, back):
                main.wait_stream(stream)

        for name, run in (("to_host", to_host), ("to_device", to_device), ("both", both)):
            yield {"kind": "copy", "way": name, "bytes": size, "time_s": event_seconds(torch, run) / repeats}


def copies_beside_products(torch):
    """How much longer products take while copies go on, and copies while products go on."""
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    main, side = torch.cuda.current_stream(), torch.cuda.Stream()
    size = 256 * MIB
    here = torch.empty(size, dtype=torch.uint8, device="cuda")
    there = torch.empty(size, dtype=torch.uint8, pin_memory=True)

    def products(count=60):
        for _ in range(count):
            a @ b

    def copy(way, count=12):
        for _ in range(count):
            there.copy_(here, non_blocking=True) if way == "to_host" else here.copy_(there, non_blocking=True)

    alone = event_seconds(torch, products)
    yield {"kind": "products", "beside": "nothing", "time_s": alone / 60}
    for way in ("to_host", "to_device"):
        ends = {}

        def beside():
            side.wait_stream(main)
            begun = torch.cuda.Event(enable_timing=True)
            begun.record()
            with torch.cuda.stream(side):
                copy(way, 40)  # longer than the products
            products()
            done = torch.cuda.Event(enable_timing=True)
            done.record()
            main.wait_stream(side)
            ended = torch.cuda.Event(enable_timing=True)
            ended.record()
            ended.synchronize()
            ends.update(products=begun.elapsed_time(done) * 1e-3, copies=begun.elapsed_time(ended) * 1e-3)

        beside()
        beside()
        yield {
            "kind": "products",
            "beside": way,
            "time_s": ends["products"] / 60,
            "copy_bytes": size,
            "copy_s": ends["copies"] / 40,
        }


def host_adam(torch):
    for count, dtype in ((1 << 26, torch.float32), (1 << 28, torch.float32)):
        p = torch.nn.Parameter(torch.randn(count, dtype=dtype))
        p.grad = torch.randn(count, dtype=dtype)
        for fused in (True, False):
            optimizer = torch.optim.AdamW([p], lr=1e-4, **({"fused": True} if fused else {"foreach": True}))
            spans = []
            for _ in range(4):
                begun = time.monotonic()
                optimizer.step()
                spans.append(time.monotonic() - begun)
            yield {
                "kind": "host_adam",
                "parameters": count,
                "fused": fused,
                "threads": torch.get_num_threads(),
                "time_s": statistics.median(spans[1:]),
            }


def muon(torch):
    if not hasattr(torch.optim, "Muon"):
        yield {"kind": "muon", "missing": "torch has no Muon"}
        return
    for rows, columns, count in (
        (2048, 2048, 16),
        (4096, 4096, 8),
        (4096, 14336, 8),
        (8192, 8192, 4),
        (8192, 28672, 4),
        (1024, 4096, 16),
        (7168, 2048, 16),
    ):
        matrices = [
            torch.nn.Parameter(torch.randn(rows, columns, device="cuda", dtype=torch.float32))
            for _ in range(count)
        ]
        for m in matrices:
            m.grad = torch.randn_like(m)
        optimizer = torch.optim.Muon(matrices, lr=1e-3)
        yield {
            "kind": "muon",
            "rows": rows,
            "columns": columns,
            "matrices": count,
            "time_s": event_seconds(torch, optimizer.step) / count,
        }
        del optimizer, matrices
        torch.cuda.empty_cache()


PARTS = {"copies": copies, "beside": copies_beside_products, "muon": muon, "host_adam": host_adam}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, metavar="FILE")
    parser.add_argument("--only", default=",".join(PARTS), metavar="PARTS", help="separated by commas")
    options = parser.parse_args()
    import torch

    with own_folder():
        import device
    made = {
        **device.header(torch, None),
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "command": shlex.join(["python3", "tools/profile/host_link.py"] + sys.argv[1:]),
        "processors": os.cpu_count(),
        "rows": [],
    }
    for name in options.only.split(","):
        try:
            for row in PARTS[name](torch):
                made["rows"].append(row)
                print(json.dumps(row), flush=True)
                with open(options.out, "w", encoding="utf-8") as out:
                    head = json.dumps({k: v for k, v in made.items() if k != "rows"}, indent=1)
                    rows = ",\n  ".join(json.dumps(r) for r in made["rows"])
                    out.write(head[:-2] + ',\n "rows": [\n  ' + rows + "]\n}\n")
        except Exception as error:  # the other parts are still wanted
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", flush=True)


if __name__ == "__main__":
    main()
