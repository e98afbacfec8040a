"""Matrix products: plain, with 8-bit inputs, and grouped by expert."""
import random


def measure_matmul(bench, point):
    """y = x W^T, dx = dy W, dW = dy^T x: the products of a Linear without bias, into buffers that exist."""
    torch, m, n, k = bench.torch, point.get("m"), point.get("n"), point.get("k")
    count = bench.sets(2 * (m * n + m * k + n * k))

    def calls(left, right, out, apply):
        take = bench.inputs.take
        return [apply(take(*left), take(*right), bench.outputs.take(*out)) for _ in range(count)]

    layouts = {
        "forward": calls((m, k), (n, k), (m, n), lambda x, w, y: lambda: torch.mm(x, w.t(), out=y)),
        "input": calls((m, n), (n, k), (m, k), lambda dy, w, dx: lambda: torch.mm(dy, w, out=dx)),
        "weight": calls((m, n), (m, k), (n, k), lambda dy, x, dw: lambda: torch.mm(dy.t(), x, out=dw)),
    }
    return [{"layout": layout, "m": m, "n": n, "k": k, "dtype": bench.dtype_name,
             **bench.time(made, settle=layout == "forward")}
            for layout, made in layouts.items() if layout == "forward" or not bench.forward_only]


def measure_fp8_matmul(bench, point):
    """Forward layout, e4m3 by e4m3 to the profile's type: one scale for a tensor, then one for each row."""
    torch, m, n, k = bench.torch, point.get("m"), point.get("n"), point.get("k")
    if not hasattr(torch, "_scaled_mm") or not hasattr(torch, "float8_e4m3fn"):
        raise NotImplementedError("torch has no _scaled_mm")
    count = bench.sets(m * k + n * k + 2 * m * n)
    pairs = [(bench.eight_bit.take(m, k), bench.eight_bit.take(n, k).t()) for _ in range(count)]
    one = torch.ones((), device="cuda")
    scales = {"tensor": (one, one), "row": (torch.ones(m, 1, device="cuda"), torch.ones(1, n, device="cuda"))}
    rows = []
    for scaling, (a, b) in scales.items():
        calls = [lambda x=x, w=w: torch._scaled_mm(x, w, scale_a=a, scale_b=b, out_dtype=torch.bfloat16,
                                                   use_fast_accum=True) for x, w in pairs]
        rows.append({"scaling": scaling, "m": m, "n": n, "k": k, **bench.time(calls)})
    return rows


def expert_loads(experts, tokens, load, seed=3):
    """Rows for each expert, multiples of 8 and above 0, that add up to tokens. Uneven: shares 0.4 to 1.6."""
    groups = tokens // 8 - experts
    source = random.Random(f"{experts}|{tokens}|{seed}")
    weights = [1.0 if load == "even" else 0.4 + 1.2 * source.random() for _ in range(experts)]
    ends, reached = [], 0.0
    for weight in weights:
        reached += weight
        ends.append(round(groups * reached / sum(weights)))
    ends[-1] = groups
    return [8 * (b - a + 1) for a, b in zip([0] + ends, ends)]


def measure_grouped_matmul(bench, point):
    """The three products of a Linear for each expert, rows of tokens sorted by expert."""
    torch = bench.torch
    experts, tokens, n, k = (point.get(name) for name in ("experts", "tokens", "n", "k"))
    loads = expert_loads(experts, tokens, point.get("load"))
    ends = [sum(loads[:i + 1]) for i in range(experts)]
    offsets = torch.tensor(ends, dtype=torch.int32, device="cuda")
    functional = getattr(torch.nn.functional, "grouped_mm", None) or getattr(torch, "_grouped_mm", None)
    count = bench.sets(2 * (tokens * (n + k) + experts * n * k))
    take = bench.inputs.take
    sets = [(take(tokens, k), take(experts, n, k), take(tokens, n)) for _ in range(count)]
    parts = [slice(end - load, end) for load, end in zip(loads, ends)]
    grouped = {
        "forward": lambda x, w, dy: functional(x, w.transpose(-2, -1), offs=offsets),
        "input": lambda x, w, dy: functional(dy, w, offs=offsets),
        "weight": lambda x, w, dy: functional(dy.t(), x, offs=offsets),
    }
    looped = {
        "forward": lambda x, w, dy: [torch.mm(x[p], w[i].t()) for i, p in enumerate(parts)],
        "input": lambda x, w, dy: [torch.mm(dy[p], w[i]) for i, p in enumerate(parts)],
        "weight": lambda x, w, dy: [torch.mm(dy[p].t(), x[p]) for p in parts],
    }
    method, layouts = "loop", looped
    if functional and _works(torch, grouped, sets[0]):
        method, layouts = "grouped", grouped
    rows = []
    for layout, apply in layouts.items():
        timing = bench.time([lambda s=s: apply(*s) for s in sets])
        names = {"layout": layout, **dict(point.key), "dtype": bench.dtype_name, "method": method}
        rows.append({**names, **timing})
    return rows


def _works(torch, layouts, operands):
    try:
        for apply in layouts.values():
            apply(*operands)
        torch.cuda.synchronize()
        return True
    except (RuntimeError, NotImplementedError, TypeError):
        return False
