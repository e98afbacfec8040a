"""Forward and backward of a differentiable operator, each timed alone."""


def time_passes(bench, make_inputs, apply, working_bytes, graph=True, most=16, backward=True, settle=False):
    """[("forward", timing), ("backward", timing)] of apply(*make_inputs()).

    Forward runs as in training, with gradients wanted. For backward the forward runs once, its graph is kept,
    and torch.autograd.grad runs again and again, to every input that wants a gradient.
    """
    torch = bench.torch
    sets = [make_inputs() for _ in range(bench.sets(working_bytes, most))]
    rows = [("forward", bench.time([lambda s=s: apply(*s) for s in sets], graph, settle))]
    if backward and not bench.forward_only:
        calls = [_backward(torch, bench, apply, inputs) for inputs in sets]
        rows.append(("backward", bench.time(calls, graph)))
    return rows


def _backward(torch, bench, apply, inputs):
    wanted = [x for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad]
    outputs = apply(*inputs)
    outputs = [y for y in (outputs if isinstance(outputs, tuple) else (outputs,)) if y.requires_grad]
    gradients = [_like(bench, y) for y in outputs]
    return lambda: torch.autograd.grad(outputs, wanted, gradients, retain_graph=True)


def _like(bench, y):
    """A gradient that arrives, of the output's shape and strides; a loss starts with one."""
    if y.dim() == 0:
        return None
    if y.dtype != bench.dtype:
        return bench.torch.randn_like(y)
    if y.is_contiguous():
        return bench.inputs.take(*y.shape)
    return bench.torch.empty_like(y).normal_()


def leaf(view):
    return view.detach().requires_grad_()
