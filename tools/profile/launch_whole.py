"""Section whole: a model of 1.2 billion parameters, forward and backward and whole steps, eager, captured,
and compiled layer by layer or in one piece."""
import time

import torch

import launch_models

prepare = launch_models.import_models
COLLECTOR_OFF = False
MODEL = "llama3.2-1b"
COUNTS_S = 15  # what the kernel counts that come last may take
LAYERS_S = 12  # compiling one layer, for one shape of input
WHOLE_S = 45


class Runner:
    """The model with its optimizer, and how it is called: eager, its layers compiled, or compiled whole."""

    def __init__(self, c):
        # The library asks the device whether sequences are packed, and under a compiler or in a capture makes
        # a mask in its place, with which attention is slow. Without a mask it is causal in all modes alike.
        from transformers.models.llama import modeling_llama
        modeling_llama.create_causal_mask = lambda *args, **named: None
        self.model = launch_models.build(c, MODEL, torch.bfloat16)
        self.parameters = list(self.model.parameters())
        self.optimizer = torch.optim.AdamW(self.parameters, lr=1e-5, fused=True, capturable=c.cuda)
        self.layers = list(self.model.model.layers)
        self.whole = torch.compile(self.model, dynamic=False)
        self.compiled = [torch.compile(layer.forward, dynamic=False) for layer in self.layers]
        self.call = self.model

    def mode(self, name):
        for layer, forward in zip(self.layers, self.compiled):
            vars(layer).pop("forward", None)
            if name == "compiled_layers":
                layer.forward = forward
        self.call = self.whole if name == "compiled" else self.model

    def iteration(self, ids, with_step):
        for parameter in self.parameters:
            parameter.grad = None
        self.call(input_ids=ids, labels=ids, use_cache=False).loss.backward()
        if with_step:
            self.optimizer.step()


def key_of(shape, with_step, mode):
    what = "step" if with_step else "forward_and_backward"
    return {"model": MODEL, "batch": shape[0], "sequence": shape[1], "what": what, "mode": mode}


def timed(c, runner, ids, with_step):
    def measured():
        c.reset_peaks()
        begun = time.perf_counter()
        runner.iteration(ids, with_step)
        c.synchronize()
        first = time.perf_counter() - begun
        fields = c.wall_time(lambda: runner.iteration(ids, with_step), span_s=0.6, most=30)
        graphs = torch._dynamo.utils.counters["stats"]["unique_graphs"]
        return {**fields, "first_s": first, "graphs_compiled_so_far": graphs, **c.memory()}
    return measured


def captured(c, runner, ids, with_step):
    def measured():
        c.reset_peaks()
        graph = c.capture(lambda: runner.iteration(ids, with_step), warm_up=2)
        try:
            return {**c.wall_time(graph.replay, span_s=0.6, most=30), **c.memory()}
        finally:
            c.synchronize()
            runner.model.zero_grad(set_to_none=True)  # they live in the graph
            graph.reset()
    return measured


def count(c, runner, batches, shapes, mode):
    runner.mode(mode)
    for shape in shapes:
        for with_step in (False, True):
            if c.left() > 2:
                try:
                    counts = c.profile(lambda: runner.iteration(batches[shape], with_step))
                    c.row(key_of(shape, with_step, mode), **counts)
                except Exception as error:  # the times of this row stand
                    c.row(key_of(shape, with_step, mode), count_error=str(error)[:200])


def measure(c):
    torch._dynamo.config.recompile_limit = 64
    shapes = ((1, 16), (1, 32)) if c.tiny else ((1, 512), (1, 2048), (4, 2048))
    made = []
    if not c.attempt({"model": MODEL, "part": "build"}, lambda: made.append(Runner(c)), 5):
        return
    runner = made[0]
    vocab = runner.model.config.vocab_size
    batches = {shape: c.randint(vocab, shape) for shape in shapes}
    c.row({"model": MODEL, "part": "build"}, parameters=launch_models.parameters_of(runner.model),
          tensors=len(runner.parameters))
    both = (False, True)
    for shape in shapes:
        for with_step in both:
            c.attempt(key_of(shape, with_step, "eager"), timed(c, runner, batches[shape], with_step), 3)
    for shape in shapes:
        for with_step in both:
            c.attempt(key_of(shape, with_step, "captured"), captured(c, runner, batches[shape], with_step), 4)
    plan = [("compiled_layers", shape, LAYERS_S) for shape in shapes]
    plan += [("compiled", shape, WHOLE_S) for shape in shapes]
    done = {}
    for mode, shape, cost in plan:
        runner.mode(mode)
        for with_step in both:
            needed = COUNTS_S + (3 if with_step and shape in done.get(mode, ()) else cost)
            if c.attempt(key_of(shape, with_step, mode), timed(c, runner, batches[shape], with_step), needed):
                done.setdefault(mode, []).append(shape)
    count(c, runner, batches, shapes, "eager")
    for mode, measured_shapes in done.items():
        count(c, runner, batches, dict.fromkeys(measured_shapes), mode)
