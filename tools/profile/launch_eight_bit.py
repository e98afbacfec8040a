"""Section eight_bit: what casting to e4m3 costs, and products of e4m3 beside those of bf16.

Times are timing.Bench's: on a device that has worked for 80 ms before.
"""
import time

import torch

import timing

COLLECTOR_OFF = True
LARGEST = 448.0  # of e4m3
E4M3 = torch.float8_e4m3fn
PRODUCTS = ((8192, 4096, 4096), (8192, 14336, 4096), (8192, 8192, 8192))
CASTS = ((8192, 4096), (8192, 8192), (8192, 14336))
GROUPED = tuple((experts, 1024, n, k) for experts in (8, 32) for n, k in ((2048, 7168), (7168, 2048)))


class HostBench:
    """For --device cpu: the calls are run once."""

    def time(self, calls, settle=False):
        begun = time.perf_counter()
        for call in calls:
            call()
        return {"time_s": (time.perf_counter() - begun) / len(calls), "samples": 1, "graph": 0}


def bench_of(c):
    if not c.cuda:
        return HostBench()
    return timing.Bench(torch)


def cast(x, scale):
    return (x.float() * scale).clamp(-LARGEST, LARGEST).to(E4M3)


def tensor_wise(x):
    amax = x.abs().amax().float().clamp(min=1e-12)
    return cast(x, LARGEST / amax), amax / LARGEST


def tensor_wise_and_transposed(x):
    made, scale = tensor_wise(x)
    return made, made.t().contiguous(), scale


def row_wise(x):
    amax = x.abs().amax(dim=-1, keepdim=True).float().clamp(min=1e-12)
    return cast(x, LARGEST / amax), amax / LARGEST


def block_wise(x):
    """One scale for 128 neighbours of a row."""
    made, scale = row_wise(x.view(x.shape[0], -1, 128))
    return made.view(x.shape), scale.squeeze(-1)


def block_wise_and_transposed(x):
    """And the transposed tensor with scales of its own, as the product for weight gradients needs it."""
    return block_wise(x) + block_wise(x.t().contiguous())


KINDS = ((tensor_wise, "eager"), (tensor_wise, "compiled"), (block_wise, "compiled"),
         (tensor_wise_and_transposed, "compiled"), (block_wise_and_transposed, "compiled"),
         (row_wise, "compiled"), (tensor_wise_and_transposed, "eager"), (block_wise, "eager"))


def measure_casts(c, bench):
    for rows, columns in ((256, 128),) if c.tiny else CASTS:
        inputs = [c.randn(rows, columns) for _ in range(2)]
        for function, mode in KINDS:
            def measured():
                run = torch.compile(function, dynamic=False) if mode == "compiled" else function
                timed = bench.time([lambda x=x: run(x) for x in inputs], settle=True)
                return {**timed, "bytes_in": 2 * rows * columns}
            key = {"cast": function.__name__, "mode": mode, "rows": rows, "columns": columns}
            c.attempt(key, measured, 6 if mode == "compiled" else 2)


def measure_products(c, bench):
    for m, n, k in ((64, 64, 64),) if c.tiny else PRODUCTS:
        a, b = c.randn(m, k), c.randn(n, k)
        (a8, a_scale), (b8, b_scale) = tensor_wise(a), tensor_wise(b)
        (a_rows, a_row_scale), (b_rows, b_row_scale) = row_wise(a), row_wise(b)

        def scaled(x, y, x_scale, y_scale, fast=True):
            return torch._scaled_mm(x, y.t(), scale_a=x_scale, scale_b=y_scale, out_dtype=torch.bfloat16,
                                    use_fast_accum=fast)
        ways = {"bf16": lambda: a @ b.t(),
                "e4m3_tensor_wise": lambda: scaled(a8, b8, a_scale, b_scale),
                "e4m3_row_wise": lambda: scaled(a_rows, b_rows, a_row_scale, b_row_scale.t()),
                "e4m3_tensor_wise_slow_sums": lambda: scaled(a8, b8, a_scale, b_scale, fast=False)}
        for name, call in ways.items():
            key = {"product": name, "m": m, "n": n, "k": k}
            c.attempt(key, lambda: rate(bench.time([call], settle=True), 2 * m * n * k), 1)


def measure_grouped(c, bench):
    for experts, rows, n, k in ((4, 16, 64, 64),) if c.tiny else GROUPED:
        x, w = c.randn(experts * rows, k), c.randn(experts, n, k, scale=0.05)
        ends = torch.arange(rows, experts * rows + 1, rows, device=c.device, dtype=torch.int32)
        (x8, x_scale), (w8, w_scale) = row_wise(x), row_wise(w)
        x_scale, w_scale = x_scale.reshape(-1).contiguous(), w_scale.reshape(experts, n).contiguous()
        ways = {"bf16": lambda: torch._grouped_mm(x, w.transpose(-2, -1), offs=ends),
                "e4m3_row_wise": lambda: torch._scaled_grouped_mm(
                    x8, w8.transpose(-2, -1), x_scale, w_scale, offs=ends, out_dtype=torch.bfloat16,
                    use_fast_accum=True)}
        for name, call in ways.items():
            key = {"grouped": name, "experts": experts, "rows": rows, "n": n, "k": k}
            c.attempt(key, lambda: rate(bench.time([call], settle=True), 2 * experts * rows * n * k), 1)


def rate(timed, flops):
    return {**timed, "tflops": flops / timed["time_s"] * 1e-12}


def measure(c):
    bench = bench_of(c)
    for part in (measure_products, measure_grouped, measure_casts):
        c.attempt({"part": part.__name__}, lambda: part(c, bench), 1)
