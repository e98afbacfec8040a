"""What surrounds expert matmuls: router, dispatch, combine."""
from passes import leaf, time_passes


def _named(bench, point, timed):
    return [{"pass": name, **dict(point.key), "dtype": bench.dtype_name, **timing} for name, timing in timed]


def measure_router(bench, point):
    """Softmax in float32 over the experts, the best k of them, their weights made to add up to one."""
    torch = bench.torch
    tokens, experts, k = point.get("tokens"), point.get("experts"), point.get("top_k")

    def inputs():
        return (leaf(bench.inputs.take(tokens, experts)),)

    def apply(scores):
        weights, chosen = torch.topk(torch.softmax(scores.float(), dim=-1), k, dim=-1)
        return weights / weights.sum(dim=-1, keepdim=True), chosen

    return _named(bench, point, time_passes(bench, inputs, apply, 8 * tokens * experts))


def _token_of_row(torch, tokens, k, experts=64):
    """For each row in expert order, the token it comes from."""
    chosen = torch.randint(experts, (tokens * k,), device="cuda")
    return torch.argsort(chosen, stable=True) // k


def measure_dispatch(bench, point):
    """Rows of tokens copied to expert order; backward adds them up for each token."""
    torch, tokens, k, hidden = bench.torch, point.get("tokens"), point.get("top_k"), point.get("hidden")

    def inputs():
        return leaf(bench.inputs.take(tokens, hidden)), _token_of_row(torch, tokens, k)

    def apply(x, index):
        return x.index_select(0, index)

    return _named(bench, point, time_passes(bench, inputs, apply, 2 * tokens * (k + 1) * hidden))


def measure_combine(bench, point):
    """Expert rows times their weights, added up in token order."""
    torch, tokens, k, hidden = bench.torch, point.get("tokens"), point.get("top_k"), point.get("hidden")

    def inputs():
        made, weights = bench.inputs.take(tokens * k, hidden), bench.inputs.take(tokens * k, 1)
        return leaf(made), leaf(weights), _token_of_row(torch, tokens, k)

    def apply(made, weights, index):
        out = torch.zeros(tokens, hidden, dtype=made.dtype, device="cuda")
        return out.index_add_(0, index, made * weights)

    return _named(bench, point, time_passes(bench, inputs, apply, 2 * tokens * (k + 1) * hidden))
