"""Section trainer: training steps as transformers' Trainer makes them, with the parts of a step timed apart.

Variant bf16: parameters, gradients and AdamW's moments in bf16. Variant autocast: all of them in float32, the
forward pass under autocast. The loop here does what Trainer's does on the device: forward with labels,
backward, the question whether the loss is a number (which waits for the device), clipping at 1.0, fused
AdamW. A few steps of the Trainer itself are timed beside it.
"""
import contextlib
import statistics
import tempfile
import time

import torch

import launch_models

prepare = launch_models.import_models
COLLECTOR_OFF = False
WARM_UP = 2
LONG_STEP_S = 0.6  # of steps longer than this, fewer are timed
# (batch, sequence, gradient checkpointing)
ALL = ((1, 2048, 0), (4, 2048, 0), (4, 2048, 1), (1, 8192, 0), (1, 8192, 1), (2, 4096, 0), (2, 4096, 1),
       (1, 2048, 1))
SOME = ((1, 2048, 0), (4, 2048, 0), (4, 2048, 1), (1, 8192, 1), (2, 4096, 0))
FEW = ((1, 2048, 0), (4, 2048, 1))
# (model, variant, implementation of experts, runs), the most important first
PLAN = (
    ("llama3.2-1b", "bf16", None, ALL),
    ("qwen3-1.7b", "bf16", None, SOME),
    ("llama3.2-3b", "bf16", None, SOME),
    ("qwen3-moe-8-layers", "bf16", "grouped_mm", SOME),
    ("llama3.2-1b", "autocast", None, SOME),
    ("llama3-8b", "bf16", None, FEW),
    ("qwen3-moe-8-layers", "bf16", "eager", FEW),
    ("qwen3-0.6b", "bf16", None, SOME),
    ("llama3.2-3b", "autocast", None, FEW),
    ("qwen3-1.7b", "autocast", None, FEW),
)


class Loop:
    def __init__(self, c, name, variant, experts):
        dtype = torch.float32 if variant == "autocast" else torch.bfloat16
        self.c, self.autocast = c, variant == "autocast"
        more = {"experts_implementation": experts} if experts else {}
        self.model = launch_models.build(c, name, dtype, **more)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-5, weight_decay=0.0, fused=True)
        self.vocab = self.model.config.vocab_size

    def checkpointing(self, on):
        if on:
            self.model.gradient_checkpointing_enable()
        else:
            self.model.gradient_checkpointing_disable()

    def batch(self, batch, sequence):
        ids = self.c.randint(self.vocab, (batch, sequence))
        return {"input_ids": ids, "labels": ids.clone(), "attention_mask": torch.ones_like(ids)}

    def loss(self, inputs):
        """Under autocast, accelerate makes the outputs float32 again after the model."""
        cast = torch.autocast(self.c.device, torch.bfloat16) if self.autocast else contextlib.nullcontext()
        with cast:
            outputs = self.model(**inputs, use_cache=False)
        if self.autocast:
            outputs.logits = outputs.logits.float()
        return outputs.loss

    def step(self, inputs):
        """Events before and after forward, after backward, clipping and the update."""
        events = [self.c.event() for _ in range(5)]
        events[0].record()
        loss = self.loss(inputs)
        events[1].record()
        loss.backward()
        events[2].record()
        if torch.isnan(loss) or torch.isinf(loss):
            raise FloatingPointError("the loss is no number")
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        events[3].record()
        self.optimizer.step()
        events[4].record()
        self.model.zero_grad()
        return events


def parts_of(events):
    spans = [a.elapsed_time(b) * 1e-3 for a, b in zip(events, events[1:])]
    return (sum(spans), *spans)


def measure_run(c, loop, run):
    batch, sequence, checkpointed = run
    loop.checkpointing(checkpointed)
    c.reset_peaks()
    inputs = loop.batch(batch, sequence)
    loop.step(inputs)
    c.synchronize()
    first = c.memory()
    begun = time.perf_counter()
    for _ in range(WARM_UP - 1):
        loop.step(inputs)
    c.synchronize()
    estimate = (time.perf_counter() - begun) / (WARM_UP - 1)
    parts, walls = [], []
    for _ in range(3 if estimate > LONG_STEP_S else 5):
        begun = time.perf_counter()
        events = loop.step(inputs)
        c.synchronize()
        walls.append(time.perf_counter() - begun)
        parts.append(parts_of(events))
    step, forward, backward, clip, update = (statistics.median(p[i] for p in parts) for i in range(5))
    return {"step_s": statistics.median(walls), "device_step_s": step, "forward_s": forward,
            "backward_s": backward, "clip_s": clip, "optimizer_s": update, "samples": len(parts),
            "parameters": launch_models.parameters_of(loop.model),
            "layers": loop.model.config.num_hidden_layers,
            "first_step": {name: first[name] for name in first if "peak" in name}, **c.memory()}


def measure_trainer(c, loop, batch, sequence):
    """The library's own Trainer on the loop's model: seconds between the ends of its steps."""
    import transformers
    ends = []

    class Ends(transformers.TrainerCallback):
        def on_step_end(self, *args, **named):
            c.synchronize()
            ends.append(time.perf_counter())

    inputs = {name: tensor.cpu() for name, tensor in loop.batch(64 if not c.tiny else 16, sequence).items()}
    rows = [{name: tensor[i] for name, tensor in inputs.items()} for i in range(len(inputs["labels"]))]
    with tempfile.TemporaryDirectory() as folder:
        chosen = transformers.TrainingArguments(
            output_dir=folder, per_device_train_batch_size=batch, max_steps=8, optim="adamw_torch_fused",
            max_grad_norm=1.0, report_to=[], logging_strategy="no", save_strategy="no", disable_tqdm=True,
            bf16=False, use_cpu=not c.cuda)
        transformers.Trainer(model=loop.model, args=chosen, train_dataset=rows, callbacks=[Ends()]).train()
    gaps = [later - earlier for earlier, later in zip(ends[WARM_UP:], ends[WARM_UP + 1:])]
    return {"step_s": statistics.median(gaps), "samples": len(gaps), **c.memory()}


def measure_model(c, name, variant, experts, runs, first):
    """A function of its own, so that the model is gone when the next is made."""
    same = {"model": name, "variant": variant, **({"experts_implementation": experts} if experts else {})}
    loops = []
    if not c.attempt({**same, "part": "build"}, lambda: loops.append(Loop(c, name, variant, experts)), 4):
        return
    for run in runs:
        batch, sequence, checkpointed = (1, 32, run[2]) if c.tiny else run
        key = {**same, "batch": batch, "sequence": sequence, "checkpointing": bool(checkpointed),
               "loop": "own"}
        c.attempt(key, lambda: measure_run(c, loops[0], (batch, sequence, checkpointed)), 5)
    if not first:
        return
    loops[0].checkpointing(False)
    loops[0].optimizer = None
    for batch, sequence in ((1, 32),) if c.tiny else ((1, 2048), (4, 2048)):
        key = {**same, "batch": batch, "sequence": sequence, "checkpointing": False, "loop": "Trainer"}
        c.reset_peaks()
        c.attempt(key, lambda: measure_trainer(c, loops[0], batch, sequence), 8)


def measure(c):
    for number, (name, variant, experts, runs) in enumerate(PLAN):
        measure_model(c, name, variant, experts, runs, number == 0)
        c.clean()
