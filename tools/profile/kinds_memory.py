"""Local copies, optimizer update, gradient norm and launch overhead."""
import statistics
import time

TENSOR = 1 << 24  # parameters of one tensor, as a large Linear has them
LAUNCHES = 1000


def measure_transfer(bench, point):
    """copy and fill in the profile's type; cast from float32 (down) or to it (up); accumulate in float32."""
    torch, count = bench.torch, point.get("elements")
    short = {"copy": 4, "fill": 2, "cast": 6, "accumulate": 6}[point.kind] * count
    calls = []
    for _ in range(bench.sets(short, 32)):
        small = bench.inputs.take(count)
        if point.kind == "copy":
            out = bench.outputs.take(count)
            calls.append(lambda a=small, b=out: b.copy_(a))
        elif point.kind == "fill":
            calls.append(bench.outputs.take(count).zero_)
        else:
            wide = torch.ones(count, dtype=torch.float32, device="cuda")
            if point.kind == "accumulate":
                calls.append(lambda a=small, b=wide: b.add_(a))
            elif point.get("direction") == "up":
                calls.append(lambda a=small, b=wide: b.copy_(a))
            else:
                out = bench.outputs.take(count)
                calls.append(lambda a=wide, b=out: b.copy_(a))
    return [{**dict(point.key), "dtype": bench.dtype_name, **bench.time(calls)}]


def _tensors(torch, count, dtype, scale):
    sizes = [TENSOR] * (count // TENSOR) + ([count % TENSOR] if count % TENSOR else [])
    return [torch.empty(size, dtype=dtype, device="cuda").normal_().mul_(scale) for size in sizes]


def measure_optimizer(bench, point):
    """One AdamW step with both moments in the parameters' type; gradients exist already."""
    torch = bench.torch
    bench.make_room()
    dtype = torch.float32 if point.get("dtype") == "fp32" else bench.dtype
    parameters = [torch.nn.Parameter(p) for p in _tensors(torch, point.get("parameters"), dtype, 0.02)]
    for p, gradient in zip(parameters, _tensors(torch, point.get("parameters"), dtype, 1e-3)):
        p.grad = gradient
    chosen = torch.optim.AdamW(parameters, lr=1e-5, weight_decay=0.1, **{point.get("variant"): True})
    return [{**dict(point.key), "tensors": len(parameters), **bench.time([chosen.step], graph=False)}]


def measure_grad_norm(bench, point):
    """The norm of all gradients together, left on the device."""
    torch = bench.torch
    bench.make_room()
    dtype = torch.float32 if point.get("dtype") == "fp32" else bench.dtype
    gradients = _tensors(torch, point.get("parameters"), dtype, 1e-3)

    def apply():
        return torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))

    return [{**dict(point.key), "tensors": len(gradients), **bench.time([apply])}]


def _wall(torch, run, count):
    """Seconds of the processor for one of count calls, the device not waited for."""
    times = []
    for _ in range(5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            run()
        times.append((time.perf_counter() - start) / count)
        torch.cuda.synchronize()
    return statistics.median(times)


def measure_launch(bench, point):
    torch, what = bench.torch, point.get("what")
    small = torch.ones(32, device="cuda")
    linear = torch.nn.Linear(64, 64, bias=False, device="cuda", dtype=bench.dtype)
    x = leaf_of(bench, 64, 64)

    def both_passes():
        linear(x).backward(x.detach())
        linear.weight.grad = x.grad = None

    def event_pair():
        bench.span(lambda: None)
        return statistics.median(bench.span(lambda: None) for _ in range(50))

    def synchronize():
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(LAUNCHES):
            torch.cuda.synchronize()
        return (time.perf_counter() - start) / LAUNCHES

    # Fewer than 1,000 launches at a time: the device's queue holds about that many before launching waits.
    measured = {
        "kernel_in_graph": lambda: bench.time([lambda: small.add_(0.0)])["time_s"],
        "kernel_eager": lambda: bench.time([lambda: small.add_(0.0)], graph=False)["time_s"],
        "cpu_add": lambda: _wall(torch, lambda: small.add_(0.0), LAUNCHES // 2),
        "cpu_linear": lambda: _wall(torch, lambda: linear(x), LAUNCHES // 4),
        "cpu_linear_forward_backward": lambda: _wall(torch, both_passes, LAUNCHES // 10),
        "event_pair": event_pair,
        "synchronize": synchronize,
    }
    return [{"what": what, "time_s": measured[what](), "samples": 5}]


def leaf_of(bench, *shape):
    return bench.torch.randn(*shape, device="cuda", dtype=bench.dtype, requires_grad=True)
