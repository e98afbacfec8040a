"""The kinds of launch whose issue is timed: small operands, so that the device is faster than the processor.

A kind makes a branch: (leaves, call), where call() issues the operator once on operands of its own, and
leaves are the tensors that its backward makes gradients for; without leaves there is no backward.
"""
HIDDEN = 64
ROWS = 64
EXPERTS = 8


def _pointwise(c):
    functional = c.torch.nn.functional

    def pair():
        return c.randn(ROWS, HIDDEN, grad=True), c.randn(ROWS, HIDDEN, grad=True)

    def add():
        a, b = pair()
        return (a, b), lambda: a + b

    def silu_mul():
        a, b = pair()
        return (a, b), lambda: functional.silu(a) * b

    def gelu():
        a, _ = pair()
        return (a,), lambda: functional.gelu(a)

    def cast():
        a, _ = pair()
        return (a,), lambda: a.float()

    def copy():
        a, b = c.randn(ROWS, HIDDEN), c.randn(ROWS, HIDDEN)
        return (), lambda: a.copy_(b)

    def fill():
        return (), lambda: c.torch.zeros(ROWS, HIDDEN, device=c.device, dtype=c.dtype)

    def view():
        a, _ = pair()
        return (a,), lambda: a.view(HIDDEN, ROWS).transpose(0, 1)

    return {"add": add, "silu_mul": silu_mul, "gelu": gelu, "cast": cast, "copy": copy, "fill": fill,
            "view_transpose": view}


def _rows(c):
    functional = c.torch.nn.functional

    def layer_norm():
        x, w, b = c.randn(ROWS, HIDDEN, grad=True), c.randn(HIDDEN, grad=True), c.randn(HIDDEN, grad=True)
        return (x, w, b), lambda: functional.layer_norm(x, (HIDDEN,), w, b)

    def rms_norm():
        x, w = c.randn(ROWS, HIDDEN, grad=True), c.randn(HIDDEN, grad=True)
        return (x, w), lambda: functional.rms_norm(x, (HIDDEN,), w, 1e-5)

    def softmax():
        x = c.randn(ROWS, HIDDEN, dtype=c.torch.float32, grad=True)
        return (x,), lambda: c.torch.softmax(x, dim=-1)

    def cross_entropy():
        x = c.randn(ROWS, HIDDEN, dtype=c.torch.float32, grad=True)
        labels = c.randint(HIDDEN, (ROWS,))
        return (x,), lambda: functional.cross_entropy(x, labels)

    return {"layer_norm": layer_norm, "rms_norm": rms_norm, "softmax": softmax,
            "cross_entropy": cross_entropy}


def _products(c):
    torch, functional = c.torch, c.torch.nn.functional

    def linear():
        x, w = c.randn(ROWS, HIDDEN, grad=True), c.randn(HIDDEN, HIDDEN, grad=True)
        return (x, w), lambda: functional.linear(x, w)

    def linear_bias():
        x, w = c.randn(ROWS, HIDDEN, grad=True), c.randn(HIDDEN, HIDDEN, grad=True)
        b = c.randn(HIDDEN, grad=True)
        return (x, w, b), lambda: functional.linear(x, w, b)

    def attention():
        q, k, v = (c.randn(1, 2, ROWS, 64, grad=True) for _ in range(3))
        return (q, k, v), lambda: functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    def grouped_mm():
        x, w = c.randn(16 * EXPERTS, HIDDEN, grad=True), c.randn(EXPERTS, HIDDEN, HIDDEN, grad=True)
        ends = torch.arange(16, 16 * EXPERTS + 1, 16, device=c.device, dtype=torch.int32)
        return (x, w), lambda: torch._grouped_mm(x, w, offs=ends)

    def scaled_mm():
        a, b = (c.randn(ROWS, HIDDEN).to(torch.float8_e4m3fn) for _ in range(2))
        one = torch.ones((), device=c.device)
        return (), lambda: torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=c.dtype)

    return {"linear": linear, "linear_bias": linear_bias, "attention": attention, "grouped_mm": grouped_mm,
            "scaled_mm": scaled_mm}


def _indexed(c):
    torch = c.torch

    def places(high, *shape):
        return c.randint(high, shape)

    def index_select():
        x, i = c.randn(ROWS, HIDDEN, grad=True), places(ROWS, ROWS)
        return (x,), lambda: x.index_select(0, i)

    def gather():
        x, i = c.randn(ROWS, HIDDEN, grad=True), places(HIDDEN, ROWS, 8)
        return (x,), lambda: x.gather(1, i)

    def embedding():
        w, i = c.randn(256, HIDDEN, grad=True), places(256, ROWS)
        return (w,), lambda: torch.nn.functional.embedding(i, w)

    def topk():
        x = c.randn(ROWS, HIDDEN, dtype=torch.float32, grad=True)
        return (x,), lambda: torch.topk(x, 8, dim=-1).values

    def sort():
        i = places(EXPERTS, ROWS * 8)
        return (), lambda: torch.sort(i, stable=True)

    def scatter_add():
        x, i, out = c.randn(ROWS, HIDDEN, grad=True), places(ROWS, ROWS, HIDDEN), c.randn(ROWS, HIDDEN)
        return (x,), lambda: out.scatter_add(0, i, x)

    def index_add():
        x, i, out = c.randn(ROWS, HIDDEN, grad=True), places(ROWS, ROWS), c.randn(ROWS, HIDDEN)
        return (x,), lambda: out.index_add(0, i, x)

    def histogram():
        i = places(EXPERTS, ROWS * 8)
        i = i.int() if c.cuda else i.float()
        return (), lambda: torch.histc(i, bins=EXPERTS, min=0, max=EXPERTS - 1)

    def cumsum():
        i = places(EXPERTS, EXPERTS)
        return (), lambda: torch.cumsum(i, 0, dtype=torch.int32)

    return {"index_select": index_select, "gather": gather, "embedding": embedding, "topk": topk,
            "sort": sort, "scatter_add": scatter_add, "index_add": index_add,
            "histogram": histogram, "cumsum": cumsum}


def all_kinds(context):
    """{name: function that makes a branch}, the most important first."""
    pointwise, products = _pointwise(context), _products(context)
    first = {"add": pointwise.pop("add"), "linear": products.pop("linear")}
    return {**first, **products, **_rows(context), **pointwise, **_indexed(context)}
