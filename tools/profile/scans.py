#!/usr/bin/env python3
"""Measures kernels that run along a sequence with a state, and attention with windows, on this machine's GPU.

    python3 tools/profile/scans.py --out h200.scans.json

The kernels are public ones, which this program imports where they are installed: fla (flash-linear-attention:
delta rules, linear attention, short convolutions), mamba_ssm (state spaces) and torch's flex_attention. A
kernel that cannot be had is named in the document, and nothing stands for it. The document is written anew
with every row.
"""

import argparse
import contextlib
import importlib
import json
import os
import shlex
import subprocess
import sys
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


# kernel: the sizes of its points, as far as they are the same for all, and those that differ. Sizes are those
# of one device: whole models, and parts of them as tensor parallelism cuts them.
POINTS = {
    "state_space": [
        dict(batch=b, tokens=t, heads=h, key_heads=g, key_dim=n, value_dim=64)
        for b, t, h, g, n in (
            (1, 8192, 256, 8, 256),
            (1, 4096, 256, 8, 256),
            (1, 8192, 32, 1, 256),
            (1, 8192, 128, 8, 128),
            (2, 8192, 128, 8, 128),
            (1, 4096, 80, 1, 128),
        )
    ],
    "convolution": [
        dict(batch=b, tokens=t, heads=c, taps=4)
        for b, t, c in ((1, 8192, 8192), (2, 8192, 8192), (1, 4096, 8192), (1, 8192, 2048), (1, 8192, 18432))
    ],
    "choose_keys": [
        dict(batch=1, tokens=t, keys=k, chosen=2048) for t, k in ((4096, 4096), (8192, 8192), (2048, 32768))
    ],
    "delta_rule": [
        dict(batch=b, tokens=t, heads=h, key_heads=h // 2, key_dim=128, value_dim=128)
        for b, t, h in ((1, 8192, 32), (1, 4096, 32), (2, 8192, 32), (1, 8192, 8))
    ],
    "linear_attention": [
        dict(batch=b, tokens=t, heads=h, key_heads=h, key_dim=128, value_dim=128)
        for b, t, h in ((1, 8192, 64), (1, 4096, 64), (2, 8192, 64), (1, 8192, 16))
    ],
    "window_attention": [
        dict(batch=1, tokens=t, heads=32, key_heads=8, key_dim=d, value_dim=d, window=w)
        for t, d, w in (
            (8192, 128, 1024),
            (8192, 128, 4096),
            (32768, 128, 1024),
            (32768, 64, 128),
            (8192, 64, 128),
        )
    ],
    "chunk_attention": [
        dict(batch=1, tokens=16384, heads=40, key_heads=8, key_dim=128, value_dim=128, window=8192)
    ],
    "channel_delta_rule": [
        dict(batch=b, tokens=t, heads=h, key_heads=h, key_dim=128, value_dim=128)
        for b, t, h in ((1, 8192, 32), (1, 4096, 32), (2, 8192, 32), (1, 32768, 32))
    ],
    "selective_scan": [
        dict(batch=b, tokens=t, heads=c, state=16)
        for b, t, c in ((1, 8192, 8192), (1, 4096, 8192), (1, 8192, 2048), (2, 8192, 16384))
    ],
}
MASKED = {"window_attention", "chunk_attention"}  # compiled for each number of tokens


def leaf(x):
    return x.detach().requires_grad_()


def signals(bench, point, *, gates_per_channel=False):
    """q, k, v, log decay and step of one point, as layers have them."""
    torch = bench.torch
    b, t, h, kh, n, d = (point[x] for x in ("batch", "tokens", "heads", "key_heads", "key_dim", "value_dim"))
    q, k = (
        leaf(torch.nn.functional.normalize(torch.randn(b, t, kh, n, device="cuda"), dim=-1).to(bench.dtype))
        for _ in range(2)
    )
    v = leaf(torch.randn(b, t, h, d, device="cuda", dtype=bench.dtype))
    shape = (b, t, h, n) if gates_per_channel else (b, t, h)
    g = leaf(torch.nn.functional.logsigmoid(torch.randn(shape, device="cuda")) / 16)
    beta = leaf(torch.rand(b, t, h, device="cuda").to(bench.dtype))
    return q, k, v, g, beta


def delta_rule(bench, point):
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule

    return lambda: signals(bench, point), lambda q, k, v, g, beta: chunk_gated_delta_rule(q, k, v, g, beta)[0]


def channel_delta_rule(bench, point):
    from fla.ops.kda import chunk_kda

    return (
        lambda: signals(bench, point, gates_per_channel=True),
        lambda q, k, v, g, beta: chunk_kda(q, k, v, g, beta)[0],
    )


def linear_attention(bench, point):
    from fla.ops.lightning_attn import chunk_lightning_attn

    return lambda: signals(bench, point)[:3], lambda q, k, v: chunk_lightning_attn(q, k, v, 3, 32)[0]


def state_space(bench, point):
    from mamba_ssm.ops.triton.ssd_combined import mamba_chunk_scan_combined

    torch = bench.torch

    def tensors():
        b, t, h, g, n, p = (
            point[x] for x in ("batch", "tokens", "heads", "key_heads", "key_dim", "value_dim")
        )
        x = leaf(torch.randn(b, t, h, p, device="cuda", dtype=bench.dtype))
        dt = leaf(torch.randn(b, t, h, device="cuda", dtype=bench.dtype))
        a = leaf(-torch.rand(h, device="cuda") - 0.5)
        bs, cs = (leaf(torch.randn(b, t, g, n, device="cuda", dtype=bench.dtype)) for _ in range(2))
        skip, bias = leaf(torch.ones(h, device="cuda")), leaf(torch.zeros(h, device="cuda"))
        return x, dt, a, bs, cs, skip, bias

    def apply(x, dt, a, bs, cs, skip, bias):
        return mamba_chunk_scan_combined(
            x, dt, a, bs, cs, chunk_size=256, D=skip, dt_bias=bias, dt_softplus=True
        )

    return tensors, apply


def convolution(bench, point):
    from fla.modules.causal_conv1d import causal_conv1d

    torch = bench.torch

    def tensors():
        b, t, c, w = (point[x] for x in ("batch", "tokens", "heads", "taps"))
        return (
            leaf(torch.randn(b, t, c, device="cuda", dtype=bench.dtype)),
            leaf(torch.randn(c, w, device="cuda", dtype=bench.dtype)),
        )

    def apply(x, weight):
        out = causal_conv1d(x, weight, activation="silu")
        return out[0] if isinstance(out, tuple) else out

    return tensors, apply


def masked_attention(bench, point, seen):
    torch = bench.torch
    import torch._functorch.config
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    torch._functorch.config.donated_buffer = False  # the backward pass runs again and again
    compiled = torch.compile(flex_attention, dynamic=False)
    mask = create_block_mask(seen, None, None, point["tokens"], point["tokens"], device="cuda", _compile=True)

    def tensors():
        b, t, h, kv, d = (point[x] for x in ("batch", "tokens", "heads", "key_heads", "key_dim"))
        return tuple(
            leaf(torch.randn(b, t, n, d, device="cuda", dtype=bench.dtype).transpose(1, 2))
            for n in (h, kv, kv)
        )

    return tensors, lambda q, k, v: compiled(q, k, v, block_mask=mask, enable_gqa=True)


def window_attention(bench, point):
    window = point["window"]
    return masked_attention(bench, point, lambda b, h, q, k: (q >= k) & (q - k < window))


def chunk_attention(bench, point):
    window = point["window"]
    return masked_attention(bench, point, lambda b, h, q, k: (q >= k) & (q // window == k // window))


def selective_scan(bench, point):
    from mamba_ssm.ops.selective_scan_interface import selective_scan_fn

    torch = bench.torch

    def tensors():
        b, t, c, n = (point[x] for x in ("batch", "tokens", "heads", "state"))
        u, delta, z = (leaf(torch.randn(b, c, t, device="cuda", dtype=bench.dtype)) for _ in range(3))
        a = leaf(-torch.rand(c, n, device="cuda") - 0.5)
        bs, cs = (leaf(torch.randn(b, 1, n, t, device="cuda", dtype=bench.dtype)) for _ in range(2))
        skip = leaf(torch.ones(c, device="cuda"))
        return u, delta, a, bs, cs, skip, z

    def apply(u, delta, a, bs, cs, skip, z):
        return selective_scan_fn(u, delta, a, bs, cs, skip, z=z, delta_softplus=True)

    return tensors, apply


def choose_keys(bench, point):
    """The keys that an indexer's scores choose for each query; nothing is learnt through the choice."""
    torch = bench.torch
    scores = lambda: (
        torch.randn(point["batch"], point["tokens"], point["keys"], device="cuda", dtype=bench.dtype),
    )
    return scores, lambda x: torch.topk(x, point["chosen"], dim=-1, sorted=False)[0]


FORWARD_ONLY = {"choose_keys"}


def version(name):
    try:
        return getattr(importlib.import_module(name), "__version__", "unknown")
    except Exception as error:  # what is missing is said, whatever way it is missing
        return f"not there: {type(error).__name__}"


def measure(bench, name, point):
    with own_folder():
        import passes
    tensors, apply = globals()[name](bench, point)
    return passes.time_passes(
        bench, tensors, apply, 1 << 40, most=1, settle=True, backward=name not in FORWARD_ONLY
    )


def run_once(bench, name, point):
    """Forward and backward once: whatever is compiled and tuned is so afterwards."""
    tensors, apply = globals()[name](bench, point)
    inputs = tensors()
    out = apply(*inputs)
    out = out[0] if isinstance(out, tuple) else out
    if name not in FORWARD_ONLY:
        out.backward(bench.torch.randn_like(out))
    bench.torch.cuda.synchronize()


def reason_of(error):
    first = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
    return f"{type(error).__name__}: {first}"


def compiled_apart(name):
    """The first of the points for which other code is compiled than for those before."""
    seen = set()
    for i, point in enumerate(POINTS[name]):
        sizes = tuple(v for k, v in point.items() if name in MASKED or k not in ("batch", "tokens"))
        if sizes not in seen:
            seen.add(sizes)
            yield i


def compile_all(names, seconds, passed):
    """A process for each size compiles and tunes its kernels, all at once; what they make is kept on disk."""
    own = [sys.executable, os.path.abspath(__file__), "--out", os.devnull, *passed]
    running = [
        subprocess.Popen(own + ["--only", name, "--compile-only", str(i)])
        for name in names
        for i in compiled_apart(name)
    ]
    until = time.monotonic() + seconds
    for process in running:
        try:
            process.wait(max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()


def tune_less(most):
    """Triton's kernels are tuned over `most` of their configurations, each tried for some milliseconds."""
    import triton
    from triton.runtime.autotuner import Autotuner

    all_of = Autotuner.prune_configs

    def few(self, kwargs):
        configs = all_of(self, kwargs)
        return configs[:: -(-len(configs) // most)]

    Autotuner.prune_configs = few
    Autotuner.do_bench = property(
        lambda self: lambda call, quantiles: triton.testing.do_bench(
            call, warmup=3, rep=12, quantiles=quantiles
        )
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, metavar="FILE")
    parser.add_argument("--only", default=",".join(POINTS), metavar="KERNELS", help="separated by commas")
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument(
        "--compile-minutes", type=float, default=3.0, help="for compiling kernels, in that time"
    )
    parser.add_argument("--configurations", type=int, default=100, help="that kernels are tuned over at most")
    parser.add_argument("--compile-only", type=int, metavar="POINT", help=argparse.SUPPRESS)
    options = parser.parse_args()
    begun = time.monotonic()
    os.environ["TRITON_CACHE_AUTOTUNING"] = "1"
    names = options.only.split(",")
    if options.compile_only is None:
        compile_all(names, options.compile_minutes * 60, ["--configurations", str(options.configurations)])
        print(f"compiled, {time.monotonic() - begun:.0f} s", flush=True)
    import torch

    with own_folder():
        import device
        import timing
    facts = device.header(torch, None)
    command = shlex.join(["python3", "tools/profile/scans.py"] + sys.argv[1:])
    made = {
        **facts,
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "command": command,
        "packages": {name: version(name) for name in ("fla", "mamba_ssm", "triton")},
        "rows": [],
        "failed": [],
    }
    # A scan is a dozen kernels: all of them come from a graph, so that the time is the device's own.
    timing.GRAPH_BELOW_S = 0.05
    bench = timing.Bench(torch)
    tune_less(options.configurations)
    if options.compile_only is not None:
        with contextlib.suppress(Exception):  # the measurement says what is wrong
            run_once(bench, names[0], POINTS[names[0]][options.compile_only])
        return

    def save():
        with open(options.out, "w", encoding="utf-8") as out:
            rows = ",\n  ".join(json.dumps(row) for row in made["rows"])
            head = json.dumps({k: v for k, v in made.items() if k != "rows"}, indent=1)
            out.write(head[:-2] + ',\n "rows": [\n  ' + rows + "]\n}\n")

    for name in names:
        for point in POINTS[name]:
            if time.monotonic() - begun > options.minutes * 60:
                made["failed"].append({"kernel": name, **point, "reason": "out of time"})
                continue
            try:
                rows = [
                    {"kernel": name, "pass": one, **point, **timing_of}
                    for one, timing_of in measure(bench, name, point)
                ]
                made["rows"] += rows
                print(
                    name,
                    point,
                    [f"{r['time_s'] * 1e3:.3f} ms" for r in rows],
                    f"{time.monotonic() - begun:.0f} s",
                    flush=True,
                )
            except Exception as error:  # whatever a point does, the others are still wanted
                made["failed"].append({"kernel": name, **point, "reason": reason_of(error)})
                print(name, point, made["failed"][-1]["reason"], flush=True)
            torch.cuda.empty_cache()
            save()
    save()


if __name__ == "__main__":
    main()
