"""Grids of everything but matrix products, and the table of all kinds. No torch here."""
import models
from points import (BANDWIDTH, LAUNCH, MOST_ELEMENTS, fp8_matmul, grouped_matmul, interleave, make, matmul,
                    roofline, thin)

ATTENTION_RATE = 400e12
PASSES = 2  # forward and backward
SIZES = (1_000_000, 4_000_000, 16_000_000, 64_000_000, 256_000_000, 500_000_000)
WIDTHS = (1024, 2048, 4096, 8192, 16384)
# Tensors of 2 bytes an element that a kind reads and writes in the longer of its passes, roughly.
POINTWISE = {"rms_norm": 5, "layer_norm": 5, "swiglu": 11, "geglu": 11, "gelu": 3,
             "relu": 3, "tanh": 3, "scale": 4, "add": 3}
NORMS = ("rms_norm", "layer_norm")
# heads, key-value heads, dimension of query and key, dimension of value
HEAD_SHAPES = ((32, 32, 128, 128), (32, 8, 128, 128), (64, 8, 128, 128), (8, 8, 128, 128), (8, 1, 128, 128),
               (16, 2, 128, 128), (4, 1, 128, 128), (12, 12, 128, 128), (16, 16, 64, 64), (32, 8, 64, 64),
               (4, 4, 64, 64), (16, 16, 192, 128))


def attention(budget_s=75.0):
    found = []
    for heads, kv, d, dv in HEAD_SHAPES:
        for s in (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536):
            for b in (1, 2, 4, 8, 16, 32, 64, 128):
                if b * s > 65536 or (d != dv and (s > 8192 or b * s > 16384)):
                    continue
                for causal in (1, 0):
                    flops = 2 * b * heads * s * s * (d + dv) / (2 if causal else 1)
                    # Between the times of the two passes.
                    call = 1.8 * roofline(flops, 4 * b * s * heads * d, ATTENTION_RATE)
                    if call <= 0.15:
                        found.append(make("attention", call, PASSES, 0.05, batch=b, sequence=s, heads=heads,
                                          kv_heads=kv, qk_dim=d, v_dim=dv, causal=causal))
    return thin(found, budget_s, lambda p: (p.get("sequence"), p.get("heads"), p.get("qk_dim")))


def pointwise(kind):
    moved = POINTWISE[kind]
    found = []
    for size in SIZES:
        for index, width in enumerate(WIDTHS):
            # The width matters to norms; other kinds see two of them, to have pairs of points of one size.
            if kind in NORMS or (index - SIZES.index(size)) % len(WIDTHS) in (0, 2):
                rows = max(1, size // width // 8 * 8)
                call = 2 * moved * size / BANDWIDTH + LAUNCH
                found.append(make(kind, call, PASSES, rows=rows, hidden=width))
    return found


def rotary():
    shapes = ((1, 2048), (1, 8192), (4, 2048), (2, 8192), (8, 4096), (1, 32768))
    heads = ((32, 8, 128), (32, 32, 128), (8, 1, 128), (32, 8, 64))
    return [make("rotary", 24 * b * s * (h + kv) * d / BANDWIDTH + 40e-6, PASSES, batch=b, sequence=s,
                 heads=h, kv_heads=kv, head_dim=d) for b, s in shapes for h, kv, d in heads]


def embedding():
    found = []
    tables = ((32000, 4096), (51200, 2048), (51200, 12288), (128256, 2048), (128256, 8192), (151936, 5120))
    for vocab, hidden in tables:
        for tokens in (2048, 8192, 32768):
            call = roofline(0, 2 * hidden * (vocab + 4 * tokens))
            found.append(make("embedding", call, PASSES, vocab=vocab, hidden=hidden, tokens=tokens))
    return found


def loss():
    found = []
    for vocab in (32000, 51200, 128256, 151936):
        for tokens in (512, 1024, 2048, 4096, 8192, 16384):
            if vocab * tokens <= MOST_ELEMENTS * 0.6:
                call = roofline(0, 22 * vocab * tokens)
                found.append(make("loss", call, PASSES, 0.02, tokens=tokens, vocab=vocab))
    return found


def router():
    return [make("router", 100e-6, PASSES, tokens=t, experts=e, top_k=k) for t in (2048, 8192, 32768)
            for e, k in ((8, 2), (64, 6), (128, 8), (256, 8))]


def moving(kind):
    """Rows of tokens sent to expert order and brought back."""
    return [make(kind, roofline(0, 10 * t * k * h), PASSES, tokens=t, top_k=k, hidden=h)
            for t in (1024, 4096, 16384)
            for k, h in ((1, 4096), (2, 4096), (2, 6144), (6, 2048), (8, 2048), (8, 7168))]


def transfers(kind):
    # copy and fill: 16-bit elements; cast: fp32 to bf16 and back; accumulate: fp32 += bf16.
    directions = {"cast": ("down", "up")}.get(kind, ("plain",))
    moved = {"copy": 4, "fill": 2, "cast": 6, "accumulate": 10}[kind]
    sizes = [mantissa * 10 ** power for power in range(5, 9) for mantissa in (1, 3)] + [10 ** 9]
    return [make(kind, roofline(0, moved * size), direction=d, elements=size)
            for d in directions for size in sizes]


def optimizer():
    found = []
    for count in (1_000_000, 10_000_000, 100_000_000, 300_000_000, 1_000_000_000, 2_000_000_000):
        for variant in ("fused", "foreach"):
            for dtype in ("fp32", "bf16"):
                moved = 28 if dtype == "fp32" else 14
                slow = 1 if variant == "fused" else 4
                call = slow * roofline(0, moved * count)
                found.append(make("optimizer", call, 1, 0.1, variant=variant, dtype=dtype, parameters=count))
    return found


def grad_norm():
    return [make("grad_norm", roofline(0, size * count), 1, 0.03, dtype=dtype, parameters=count)
            for dtype, size in (("fp32", 4), ("bf16", 2)) for count in (10 ** 6, 10 ** 7, 10 ** 8, 10 ** 9)]


def launch():
    whats = ("kernel_in_graph", "kernel_eager", "cpu_add", "cpu_linear", "cpu_linear_forward_backward",
             "event_pair", "synchronize")
    return [make("launch", 0.002, 1, 0.1, what=what) for what in whats]


def _layer_grid():
    found = []
    for name in models.LAYER_MODELS:
        model = models.MODELS[name]
        lengths = (128, 256, 512) if model.family == "bert" else (512, 1024, 2048, 4096, 8192)
        for t in models.TENSOR_SLICES:
            for s in lengths:
                for b in (1, 2, 4, 8):
                    step = 3 * models.layer_flops(model, t, b, s) / 550e12
                    stash = 40 * b * s * model.hidden
                    if step < 0.3 and stash < 30e9:
                        found.append((name, t, b, s, step))
    return found


def layers(budget_s=60.0, count=60):
    found = [make("layers", step, 1, 0.5, model=name, t=t, micro_batch=b, sequence=s)
             for name, t, b, s, step in _layer_grid()]
    chosen = thin(found, 10 * budget_s, lambda p: (p.get("model"), p.get("t")))
    return chosen[:count]


def layers_compiled(count=20):
    """Each third of the layers, so that eager and compiled times can be set side by side."""
    chosen = sorted(layers(), key=lambda p: p.key)
    return [make("layers-compiled", p.call_s, 1, 20.0, **dict(p.key)) for p in chosen[::3][:count]]


def steps():
    found = []
    for s in models.STEPS:
        model = models.MODELS[s.model]
        tokens = s.micro_batch * s.sequence * s.micro_batches
        passes = 8 if s.recompute == "full" else 6
        call = passes * models.model_parameters(model) * tokens / 400e12 + 0.03
        found.append(make("steps", call, 1, 1.5 + 4 * call, model=s.model, variant=s.variant,
                          micro_batch=s.micro_batch, sequence=s.sequence, micro_batches=s.micro_batches,
                          recompute=s.recompute))
    return found


# Adding a kind is one row here, one in registry.py and its measuring function.
GRIDS = {"matmul": matmul, "fp8_matmul": fp8_matmul, "grouped_matmul": grouped_matmul, "attention": attention,
         **{kind: (lambda kind=kind: pointwise(kind)) for kind in POINTWISE},
         "rotary": rotary, "embedding": embedding, "loss": loss, "router": router,
         **{kind: (lambda kind=kind: moving(kind)) for kind in ("dispatch", "combine")},
         **{kind: (lambda kind=kind: transfers(kind)) for kind in ("copy", "fill", "cast", "accumulate")},
         "optimizer": optimizer, "grad_norm": grad_norm, "launch": launch, "layers": layers,
         "layers-compiled": layers_compiled, "steps": steps}
WHOLE = ("layers", "layers-compiled", "steps")
GROUPS = {"pointwise": tuple(POINTWISE) + ("rotary",),
          "experts": ("grouped_matmul", "router", "dispatch", "combine"),
          "memory": ("copy", "fill", "cast", "accumulate"),
          "operators": tuple(k for k in GRIDS if k not in WHOLE)}
DEFAULT = tuple(k for k in GRIDS if k != "layers-compiled")
QUICK = {"matmul": 60, "attention": 16, "fp8_matmul": 6, "grouped_matmul": 5, "launch": 99, "layers": 6,
         "layers-compiled": 1, "optimizer": 4, "cast": 4}
QUICK_OTHERS = 3


def chosen_kinds(only):
    """The kinds that a text such as 'matmul,experts' names; DEFAULT for None. ValueError with a sentence."""
    if only is None:
        return DEFAULT
    names = []
    for name in (part.strip() for part in only.split(",")):
        if name in GROUPS:
            names += GROUPS[name]
        elif name in GRIDS:
            names.append(name)
        else:
            raise ValueError(f"unknown kind '{name}'; kinds: {', '.join(GRIDS)}; groups: {', '.join(GROUPS)}")
    return tuple(dict.fromkeys(names))


def quick_points(kind, cheapest_first):
    if kind == "steps":  # one of each way through the code
        ways = {(p.get("variant"), p.get("recompute")): p for p in reversed(cheapest_first)}
        return list(ways.values())
    count = QUICK.get(kind, QUICK_OTHERS)
    cheap = cheapest_first[:max(count, len(cheapest_first) // 2)]
    return sorted(cheap, key=lambda p: p.digest)[:count]


def plan(kinds, quick=False):
    """Points of each kind; with quick a few cheap ones of each."""
    by_kind = {kind: GRIDS[kind]() for kind in kinds}
    if quick:
        for kind, points in by_kind.items():
            by_kind[kind] = quick_points(kind, sorted(points, key=lambda p: p.cost_s))
    return by_kind


def ordered(by_kind):
    return interleave(by_kind)
