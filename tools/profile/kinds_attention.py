"""Attention through torch's scaled_dot_product_attention, and rotary embedding as it is usually written."""
from passes import leaf, time_passes


def attention_backend(torch, q, k, v, causal, grouped):
    """The backend that torch chooses for these tensors, in words."""
    try:
        choice = torch._fused_sdp_choice(q, k, v, None, 0.0, causal, enable_gqa=grouped)
        return torch.nn.attention.SDPBackend(choice).name.lower()
    except Exception:  # a private function: its absence must not cost the point
        return "unknown"


def measure_attention(bench, point):
    torch = bench.torch
    b, s, heads, kv = (point.get(name) for name in ("batch", "sequence", "heads", "kv_heads"))
    qk, v_dim, causal = point.get("qk_dim"), point.get("v_dim"), bool(point.get("causal"))
    grouped = kv < heads

    def tensors():
        # As a layer has them: batch, sequence, head, dimension in memory, seen with heads first.
        shapes = ((heads, qk), (kv, qk), (kv, v_dim))
        return tuple(leaf(bench.inputs.take(b, s, h, d).transpose(1, 2)) for h, d in shapes)

    def apply(q, k, v):
        extra = {"enable_gqa": True} if grouped else {}
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, **extra)

    backend = attention_backend(torch, *tensors(), causal, grouped)
    working = 2 * b * s * (2 * heads * qk + kv * (qk + v_dim))
    return [{"pass": name, **dict(point.key), "dtype": bench.dtype_name, "backend": backend, **timing}
            for name, timing in time_passes(bench, tensors, apply, working, settle=True)]


def rotate_half(torch, x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def turn(torch, x, cos, sin):
    return x * cos + rotate_half(torch, x) * sin


def angles(torch, sequence, dim, dtype):
    """cos and sin of every position, one row each."""
    frequency = 10000.0 ** (-torch.arange(0, dim, 2, device="cuda", dtype=torch.float32) / dim)
    angle = torch.arange(sequence, device="cuda", dtype=torch.float32)[:, None] * frequency[None, :]
    both = torch.cat((angle, angle), dim=-1)
    return both.cos().to(dtype), both.sin().to(dtype)


def measure_rotary(bench, point):
    """q and k turned by their positions, eager, in the profile's type."""
    torch = bench.torch
    b, s, heads, kv, d = (point.get(n) for n in ("batch", "sequence", "heads", "kv_heads", "head_dim"))
    cos, sin = angles(torch, s, d, bench.dtype)

    def tensors():
        return tuple(leaf(bench.inputs.take(b, s, h, d).transpose(1, 2)) for h in (heads, kv))

    def apply(q, k):
        return turn(torch, q, cos, sin), turn(torch, k, cos, sin)

    return [{"pass": name, **dict(point.key), "dtype": bench.dtype_name, **timing}
            for name, timing in time_passes(bench, tensors, apply, 4 * b * s * (heads + kv) * d)]
