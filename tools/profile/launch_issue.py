"""Section issue: microseconds of the processor for one launch of each kind, forward and backward apart."""
import statistics
import time

import launch_kinds

COLLECTOR_OFF = True
BRANCHES = 40  # calls of a kind, each on operands of its own as in a model
ROUNDS = 4  # over the branches in one sample of forward; some calls launch five kernels
TENSORS = (1, 16, 64, 256, 512)  # parameter tensors of an optimizer
NODES = (100, 1000)
COMPILE_S = 6
COUNTS_S = 9  # what the kernel counts that come last may take


def forward_of(c, branches):
    def issue():
        for _ in range(ROUNDS):
            for _, call in branches:
                call()
    return c.host_time(issue, ROUNDS * len(branches))


def backward_of(c, branches, together, samples=7):
    """Host time of backward alone. together: all branches in one pass of the autograd engine, as in a model;
    otherwise one pass a branch, which adds what entering the engine costs."""
    torch = c.torch
    gradients = [torch.ones_like(call()) for _, call in branches]
    times = []
    for number in range(samples + 1):
        outputs = [call() for _, call in branches]
        c.synchronize()
        begun = time.perf_counter()
        if together:
            torch.autograd.backward(outputs, gradients)
        else:
            for output, gradient in zip(outputs, gradients):
                output.backward(gradient)
        if number:
            times.append((time.perf_counter() - begun) / len(branches) * 1e6)
        c.synchronize()
        clear(branches)
    return {"host_us": statistics.median(times), "host_us_least": min(times), "calls": len(branches),
            "samples": samples, "leaves": len(branches[0][0])}


def clear(branches):
    for leaves, _ in branches:
        for leaf in leaves:
            leaf.grad = None


def measure_kinds(c):
    for name, make in launch_kinds.all_kinds(c).items():
        made = []

        def branches():
            if not made:
                made.extend(make() for _ in range(BRANCHES))
            return made

        def no_grad():
            with c.torch.no_grad():
                return forward_of(c, branches())

        if not c.attempt({"kind": name, "pass": "forward"}, lambda: forward_of(c, branches()), 0.5):
            continue
        if not made[0][0]:
            continue
        c.attempt({"kind": name, "pass": "forward_no_grad"}, no_grad, 0.5)
        c.attempt({"kind": name, "pass": "backward"}, lambda: backward_of(c, made, True), 0.5)
        c.attempt({"kind": name, "pass": "backward_alone"}, lambda: backward_of(c, made, False), 0.5)


def measure_optimizer(c):
    torch = c.torch

    def parameters(count):
        made = [torch.nn.Parameter(c.randn(1024)) for _ in range(count)]
        for parameter in made:
            parameter.grad = c.randn(1024)
        return made

    for count in TENSORS:
        for variant in ("fused", "foreach"):
            def step():
                chosen = torch.optim.AdamW(parameters(count), lr=1e-5, **{variant: True})
                return c.host_time(chosen.step, 1)
            c.attempt({"kind": f"adamw_{variant}", "pass": "step", "tensors": count}, step, 0.5)

        def clip():
            made = parameters(count)
            return c.host_time(lambda: torch.nn.utils.clip_grad_norm_(made, 1.0), 1)
        c.attempt({"kind": "clip_grad_norm", "pass": "step", "tensors": count}, clip, 0.5)


def measure_events(c):
    def record():
        events = [c.event() for _ in range(100)]

        def issue():
            for event in events:
                event.record()
        return c.host_time(issue, len(events))

    def synchronize():
        def issue():
            for _ in range(100):
                c.synchronize()
        return c.host_time(issue, 100)

    c.attempt({"kind": "event_record", "pass": "host"}, record, 0.5)
    c.attempt({"kind": "synchronize", "pass": "host"}, synchronize, 0.5)


def measure_graphs(c):
    """Host time of launching a graph, and device time of a kernel inside it, dependent one on the other."""
    for nodes in NODES:
        def launched():
            x = c.randn(256)
            graph = c.capture(lambda: [x.add_(0.5) for _ in range(nodes)])
            count = max(2, 800 // nodes)

            def issue():
                for _ in range(count):
                    graph.replay()
            fields = c.host_time(issue, count)
            start, end = c.event(), c.event()
            spans = []
            for _ in range(7):
                start.record()
                issue()
                end.record()
                c.synchronize()
                spans.append(start.elapsed_time(end) * 1e3 / count)
            return {**fields, "graph_us": statistics.median(spans),
                    "device_us_per_kernel": statistics.median(spans) / nodes}
        c.attempt({"kind": "graph_launch", "pass": "host", "nodes": nodes}, launched, 1)


def measure_compiled(c):
    """A compiled function is called: guards, the wrapper's Python, launches."""
    torch, functional = c.torch, c.torch.nn.functional

    def pointwise(x):
        return torch.relu(x + 1) * 2

    def block(x, norm, up, down):
        return x + functional.linear(functional.silu(functional.linear(
            functional.rms_norm(x, (x.shape[-1],), norm, 1e-5), up)), down)

    def branch(function, extra):
        x = c.randn(64, 64, grad=True)
        weights = [c.randn(64, grad=True), c.randn(64, 64, grad=True), c.randn(64, 64, grad=True)][:3 * extra]
        return (x, *weights), lambda: function(x, *weights)

    for name, function, extra in (("compiled_pointwise", pointwise, 0), ("compiled_block", block, 1)):
        for mode in ("eager", "compiled"):
            chosen = torch.compile(function, dynamic=False) if mode == "compiled" else function
            made = [branch(chosen, extra) for _ in range(20)]
            key = {"kind": name, "mode": mode}
            cost = COMPILE_S + COUNTS_S if mode == "compiled" else 1

            def no_grad():
                with torch.no_grad():
                    return forward_of(c, made)

            c.attempt({**key, "pass": "forward_no_grad"}, no_grad, cost)
            c.attempt({**key, "pass": "forward"}, lambda: forward_of(c, made), cost)
            c.attempt({**key, "pass": "backward"}, lambda: backward_of(c, made, True), cost)


def measure_kernel_counts(c):
    """Kernels of one call of each kind, in the rows that are there already; last, since a profiler that has
    once been on may slow launches down: the row add after it shows by how much."""
    for name, make in launch_kinds.all_kinds(c).items():
        def counts():
            leaves, call = make()
            c.row({"kind": name, "pass": "forward"}, **c.profile(call))
            if leaves:
                gradient = c.torch.ones_like(call())
                both = c.profile(lambda: call().backward(gradient))
                c.row({"kind": name, "pass": "forward_and_backward"}, **both)
        c.attempt({"kind": name, "pass": "counted"}, counts, 0.5)
    made = [launch_kinds.all_kinds(c)["add"]() for _ in range(BRANCHES)]
    key = {"kind": "add", "pass": "forward", "when": "after the profiler"}
    c.attempt(key, lambda: forward_of(c, made), 0.5)


def measure(c):
    for part in (measure_kinds, measure_optimizer, measure_events, measure_graphs, measure_compiled,
                 measure_kernel_counts):
        c.attempt({"part": part.__name__}, lambda: part(c), 0.5)
