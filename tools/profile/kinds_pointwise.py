"""Norms, activations, additions, embedding and loss: forward and backward, eager."""
from passes import leaf, time_passes


def _operators(torch):
    """kind -> (shapes of the inputs as a function of rows and width, what it does)."""
    f = torch.nn.functional
    full = lambda r, h: (r, h)  # noqa: E731
    row = lambda r, h: (h,)  # noqa: E731
    column = lambda r, h: (r, 1)  # noqa: E731
    return {
        "rms_norm": ((full, row), lambda x, w: f.rms_norm(x, (x.shape[-1],), w, 1e-5)),
        "layer_norm": ((full, row, row), lambda x, w, b: f.layer_norm(x, (x.shape[-1],), w, b, 1e-5)),
        "swiglu": ((full, full), lambda gate, up: f.silu(gate) * up),
        "geglu": ((full, full), lambda gate, up: f.gelu(gate, approximate="tanh") * up),
        "gelu": ((full,), lambda x: f.gelu(x, approximate="tanh")),
        "relu": ((full,), f.relu),
        "tanh": ((full,), torch.tanh),
        "scale": ((full, column), lambda x, gate: x * gate),
        "add": ((full, full), torch.add),
    }


def measure_pointwise(bench, point):
    shapes, apply = _operators(bench.torch)[point.kind]
    rows, hidden = point.get("rows"), point.get("hidden")

    def inputs():
        return tuple(leaf(bench.inputs.take(*shape(rows, hidden))) for shape in shapes)

    # The gradient of a sum is handed on as it is: there is nothing to time.
    working = 2 * rows * hidden * (len(shapes) + 1)
    timed = time_passes(bench, inputs, apply, working, backward=point.kind != "add")
    return [{"pass": name, **dict(point.key), "dtype": bench.dtype_name, **timing} for name, timing in timed]


def measure_embedding(bench, point):
    """Forward: rows by token id. Backward: the dense gradient of the whole table."""
    torch = bench.torch
    vocab, hidden, tokens = point.get("vocab"), point.get("hidden"), point.get("tokens")
    table = leaf(bench.inputs.take(vocab, hidden))

    def inputs():
        return torch.randint(vocab, (tokens,), device="cuda"), table

    timed = time_passes(bench, inputs, torch.nn.functional.embedding, 4 * tokens * hidden, graph=False)
    return [{"pass": name, **dict(point.key), "dtype": bench.dtype_name, **timing} for name, timing in timed]


def measure_loss(bench, point):
    """Mean cross-entropy of logits cast to float32 first; the gradient comes back in the logits' type."""
    torch = bench.torch
    tokens, vocab = point.get("tokens"), point.get("vocab")

    def inputs():
        return leaf(bench.inputs.take(tokens, vocab)), torch.randint(vocab, (tokens,), device="cuda")

    def apply(logits, labels):
        return torch.nn.functional.cross_entropy(logits.float(), labels)

    timed = time_passes(bench, inputs, apply, 10 * tokens * vocab, most=4)
    return [{"pass": name, **dict(point.key), "dtype": bench.dtype_name, **timing} for name, timing in timed]
