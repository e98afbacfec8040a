"""The plan of nest_plan.json in the words of Hugging Face Accelerate and of Transformers' Trainer, for
scripts of your own. This module needs accelerate 1.15, transformers and torch; it trains nothing by itself.

    import nest_plan
    accelerator = nest_plan.accelerator()                    # for a loop of your own, or
    arguments = nest_plan.training_arguments(output_dir=..)  # for a Trainer
"""
import json
import os
import pathlib

import torch
from accelerate import Accelerator
from accelerate.utils import FullyShardedDataParallelPlugin, TorchDynamoPlugin

HERE = pathlib.Path(__file__).resolve().parent
PLAN = json.loads((HERE / "nest_plan.json").read_text())


def parallelism_config():
    """Sizes of the device mesh; none for one device and for plain copies, which need no mesh."""
    if "parallelism" not in PLAN:
        return None
    from accelerate import ParallelismConfig
    words = dict(PLAN["parallelism"])
    if words["sp_size"] > 1:
        from accelerate.utils.dataclasses import DeepSpeedSequenceParallelConfig
        words["sp_handler"] = DeepSpeedSequenceParallelConfig(
            sp_seq_length=PLAN["sequence"], sp_seq_length_is_variable=False, sp_attn_implementation="sdpa")
    return ParallelismConfig(**words)


def fsdp_plugin():
    if PLAN["distributed_type"] != "FSDP":
        return None
    return FullyShardedDataParallelPlugin(
        fsdp_version=2,
        reshard_after_forward=PLAN["reshard_after_forward"],
        auto_wrap_policy="transformer_based_wrap",
        activation_checkpointing=PLAN["recompute"] == "full",
        cpu_ram_efficient_loading=PLAN["mixed_precision"] != "fp8",
        state_dict_type="SHARDED_STATE_DICT")


def deepspeed_plugin():
    if PLAN["distributed_type"] != "DEEPSPEED":
        return None
    from accelerate import DeepSpeedPlugin
    return DeepSpeedPlugin(hf_ds_config=str(HERE / "ds_config.json"))


def dynamo_plugin():
    if not PLAN["compile"]:
        return TorchDynamoPlugin(backend="no")
    return TorchDynamoPlugin(backend="inductor", use_regional_compilation=True)


def accelerator(**own):
    return Accelerator(mixed_precision=PLAN["mixed_precision"],
                       gradient_accumulation_steps=PLAN["gradient_accumulation_steps"],
                       parallelism_config=parallelism_config(), fsdp_plugin=fsdp_plugin(),
                       deepspeed_plugin=deepspeed_plugin(), dynamo_plugin=dynamo_plugin(), **own)


def training_arguments(**own):
    """Of a Trainer under `accelerate launch --config_file accelerate.yaml`, which groups the ranks."""
    from transformers import TrainingArguments
    arguments = {
        "per_device_train_batch_size": PLAN["micro_batch"],
        "gradient_accumulation_steps": PLAN["gradient_accumulation_steps"],
        "bf16": PLAN["mixed_precision"] in ("bf16", "fp8"),
        "fp16": PLAN["mixed_precision"] == "fp16",
        "optim": "adamw_torch_fused" if PLAN["optimizer"] == "adamw" else "sgd",
        "torch_compile": PLAN["compile"],
    }
    if PLAN["recompute"] == "full" and PLAN["distributed_type"] != "FSDP":  # FSDP's own is in accelerate.yaml
        arguments["gradient_checkpointing"] = True
        arguments["gradient_checkpointing_kwargs"] = {"use_reentrant": False}
    if parallelism_config() is not None:
        arguments["parallelism_config"] = parallelism_config()
    if PLAN["distributed_type"] == "DEEPSPEED":
        arguments["deepspeed"] = str(HERE / "ds_config.json")
    return TrainingArguments(**{**arguments, **own})


def model_config(name=None):
    """The model's configuration: model_config.json beside this file, or a folder, file or name of the Hub."""
    from transformers import AutoConfig
    own = HERE / "model_config.json"
    name = name or os.environ.get("MODEL") or (str(own) if own.exists() else None)
    if name is None:
        raise SystemExit("the plan's model has no config.json that Transformers reads: set MODEL to yours")
    config = AutoConfig.from_pretrained(name)
    config.use_cache = False
    if not PLAN["dropout"]:
        for key in ("attention_dropout", "attn_pdrop", "embd_pdrop", "resid_pdrop", "hidden_dropout",
                    "dropout"):
            if hasattr(config, key):
                setattr(config, key, 0.0)
    return config


def optimizer(model, rate=1e-4):
    if PLAN["optimizer"] == "adamw":
        return torch.optim.AdamW(model.parameters(), lr=rate, fused=torch.cuda.is_available())
    return torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9 if PLAN["momentum"] else 0.0)
