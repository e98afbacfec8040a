#!/usr/bin/env python3
"""Trains the plan's model for a few steps, with random weights and random tokens, and prints the time of a
step and the memory of the fullest device beside what nest predicted.

    python3 train_smoke.py                                            # one device
    accelerate launch --config_file accelerate.yaml train_smoke.py    # one host
    ./run_host.sh                                                     # on each host of placement/hosts.txt
"""
import argparse
import contextlib
import os
import statistics
import time

import torch
from accelerate import init_empty_weights
from torch.utils.data import DataLoader, Dataset
from transformers import AutoModelForCausalLM

import nest_plan
from nest_plan import PLAN

SIZES = PLAN.get("parallelism", {})


class Tokens(Dataset):
    """Sequences of random tokens; a number gives the same sequence on every rank."""

    def __init__(self, count, vocabulary):
        self.count = count
        self.vocabulary = vocabulary

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        dice = torch.Generator().manual_seed(index)
        tokens = torch.randint(self.vocabulary, (PLAN["sequence"] + 1,), generator=dice)
        row = {"input_ids": tokens[:-1], "labels": tokens[:-1]}
        if SIZES.get("sp_size", 1) * SIZES.get("cp_size", 1) > 1:
            row["position_ids"] = torch.arange(PLAN["sequence"])
        if SIZES.get("cp_size", 1) > 1:
            row["shift_labels"] = tokens[1:]  # the model shifts `labels` by one, but knows no neighbour's
        return row


def build_model(accelerator, config, attention, weights):
    """Random weights in the plan's dtype, where Accelerate wants to find them."""
    words = {"dtype": getattr(torch, PLAN["parameter_dtype"]), "attn_implementation": attention}
    if SIZES.get("tp_size", 1) > 1:
        # Transformers cuts tensors over ranks only while it loads a checkpoint, so there must be one.
        if accelerator.is_local_main_process and not os.path.exists(os.path.join(weights, "config.json")):
            AutoModelForCausalLM.from_config(config, **words).save_pretrained(weights)
        accelerator.wait_for_everyone()
        return AutoModelForCausalLM.from_pretrained(weights, config=config, tp_plan="auto",
                                                    device_mesh=accelerator.torch_device_mesh["tp"], **words)
    if PLAN["distributed_type"] == "DEEPSPEED":
        return AutoModelForCausalLM.from_config(config, **words)
    if PLAN["distributed_type"] != "FSDP":
        with torch.device(accelerator.device):
            return AutoModelForCausalLM.from_config(config, **words)
    if accelerator.is_main_process or PLAN["mixed_precision"] == "fp8":
        return AutoModelForCausalLM.from_config(config, **words)
    with init_empty_weights(include_buffers=False):  # rank 0 sends each rank its part
        return AutoModelForCausalLM.from_config(config, **words)


def context_parallel(accelerator, batch):
    """Cuts the sequences of a batch over the context ranks, in place."""
    if SIZES.get("cp_size", 1) == 1:
        return contextlib.nullcontext()
    buffers = list(batch.values())
    return accelerator.maybe_context_parallel(buffers=buffers, buffer_seq_dims=[1] * len(buffers),
                                              no_restore_buffers=set(buffers))


def loss_of(model, batch):
    loss = model(**batch).loss
    if SIZES.get("sp_size", 1) == 1:
        return loss
    # Every rank has the loss of its part of the sequences, all of which are equally long.
    from deepspeed.utils import groups
    every = torch.distributed.nn.functional.all_gather(loss, group=groups._get_sequence_parallel_group())
    return sum(every) / SIZES["sp_size"]


def run_micro_batch(accelerator, model, optimizer, batch):
    with accelerator.accumulate(model), context_parallel(accelerator, batch):
        loss = loss_of(model, batch)
        accelerator.backward(loss)
        if accelerator.sync_gradients:
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return loss.detach()


def wait(accelerator):
    if accelerator.device.type == "cuda":
        torch.cuda.synchronize()


def memory():
    """Peaks of what is allocated and of what the allocator holds, and what the device has in use now."""
    if not torch.cuda.is_available():
        return [0, 0, 0]
    free, total = torch.cuda.mem_get_info()
    return [torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved(), total - free]


def seconds_text(value):
    return f"{value:.4f} s"


def rate_text(value):
    return f"{value:.0f} /s"


def gib_text(value):
    return f"{value / 2**30:.2f} GiB"


def report(accelerator, seconds):
    own = [statistics.median(seconds), *memory()]
    every = accelerator.gather(torch.tensor(own, dtype=torch.float64, device=accelerator.device)).view(-1, 4)
    step, allocated, reserved, used = every.max(dim=0).values.tolist()
    tokens = PLAN["global_batch"] * PLAN["sequence"]
    predicted = PLAN["predicted"]
    accelerator.print(f"{'':10} {'measured':>14} {'predicted':>14}")
    for name, value, expected, text in [("step", step, predicted.get("step_s"), seconds_text),
                                        ("tokens", tokens / step, predicted.get("tokens_per_s"), rate_text),
                                        ("allocated", allocated, predicted.get("allocated_bytes"), gib_text),
                                        ("reserved", reserved, None, gib_text),
                                        ("in use", used, predicted.get("memory_bytes"), gib_text)]:
        told = "" if expected is None else text(expected)
        accelerator.print(f"{name:10} {text(value):>14} {told:>14}")


def read_options():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=8, help="steps in all (default: 8)")
    parser.add_argument("--warm-up", type=int, default=3, help="first steps that do not count (default: 3)")
    parser.add_argument("--model", help="another config.json, a folder or a name of the Hub")
    parser.add_argument("--attention", default="sdpa", help="attn_implementation (default: sdpa)")
    parser.add_argument("--weights", default="smoke_weights",
                        help="folder for random weights of tensor-parallel plans")
    options = parser.parse_args()
    if not 0 <= options.warm_up < options.steps:
        parser.error("--steps must be more than --warm-up")
    return options


def prepare(accelerator, options):
    config = nest_plan.model_config(options.model)
    model = build_model(accelerator, config, options.attention, options.weights)
    parameters = sum(p.numel() for p in model.parameters())
    accelerator.print(f"{config.model_type}: {parameters} parameters in {PLAN['parameter_dtype']}, "
                      f"mixed precision {PLAN['mixed_precision']}, {accelerator.num_processes} processes "
                      f"({accelerator.distributed_type.value})")
    if PLAN["recompute"] == "full" and PLAN["distributed_type"] != "FSDP":
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model.train()
    data = Tokens(options.steps * PLAN["global_batch"], config.get_text_config().vocab_size)
    loader = DataLoader(data, batch_size=PLAN["micro_batch"], drop_last=True)
    return accelerator.prepare(model, nest_plan.optimizer(model), loader)


def main():
    options = read_options()
    accelerator = nest_plan.accelerator()
    if accelerator.num_processes != PLAN["num_processes"]:
        raise SystemExit(f"the plan is for {PLAN['num_processes']} processes, "
                         f"not {accelerator.num_processes}")
    torch.manual_seed(0)
    model, optimizer, loader = prepare(accelerator, options)
    batches = iter(loader)
    seconds = []
    for step in range(options.steps):
        # Drawn before the step begins, so that it waits for no random numbers.
        micro_batches = [next(batches) for _ in range(PLAN["gradient_accumulation_steps"])]
        if step == options.warm_up and torch.cuda.is_available():
            torch.cuda.reset_peak_memory_stats()
        wait(accelerator)
        began = time.perf_counter()
        for batch in micro_batches:
            loss = run_micro_batch(accelerator, model, optimizer, batch)
        wait(accelerator)
        seconds.append(time.perf_counter() - began)
        accelerator.print(f"step {step}: {seconds[-1]:.4f} s, loss {loss.item():.4f}")
    report(accelerator, seconds[options.warm_up:])
    accelerator.end_training()


if __name__ == "__main__":
    main()
