"""Megatron-core's own checks of an export: its transformer config from the flags, its pipeline layout
against the plan's stages, and its groups of ranks against rank_map.csv. Its wheel has no parser of
arguments, so flags become fields here by name, as core_transformer_config_from_args of Megatron-LM does."""

import csv
import dataclasses
import os
import shlex
import typing

import torch
import torch.nn.functional as F

# Flags whose field has another name or another value.
RENAMED = {
    "norm-epsilon": "layernorm_epsilon", "num-experts": "num_moe_experts", "fp8-format": "fp8",
}
SET = {
    "swiglu": {"gated_linear_unit": True, "activation_func": F.silu},
    "squared-relu": {"activation_func": lambda x: F.relu(x).square()},
    "disable-bias-linear": {"add_bias_linear": False},
    "bf16": {"bf16": True, "params_dtype": torch.bfloat16, "pipeline_dtype": torch.bfloat16},
    "fp16": {"fp16": True, "params_dtype": torch.float16, "pipeline_dtype": torch.float16},
}


def flags_of(folder):
    """{flag: [values]} of megatron_args.txt."""
    flags = {}
    with open(os.path.join(folder, "megatron_args.txt"), encoding="utf-8") as file:
        for line in file:
            words = shlex.split(line, comments=True)
            if words:
                flags[words[0].removeprefix("--")] = words[1:]
    return flags


def converted(values, hint):
    if not values:
        return True
    if hint == typing.Optional[list[int]]:
        return [int(text) for text in values]
    if "list" in str(hint).lower() and "union" not in str(hint).lower() and "|" not in str(hint):
        return values
    kinds = [kind for kind in (typing.get_args(hint) or (hint,)) if kind in (int, float, str)]
    for kind in (int, float, str):
        if kind in kinds or (not kinds and kind is str):
            try:
                made = [kind(text) for text in values]
            except ValueError:
                continue
            return made[0] if len(made) == 1 else made
    return values[0] if len(values) == 1 else values


def config_of(plan, folder):
    """Its transformer config, which checks itself, after its layout was compared with the plan's."""
    from megatron.core.transformer.pipeline_parallel_layer_layout import PipelineParallelLayerLayout
    from megatron.core.transformer.transformer_config import MLATransformerConfig, TransformerConfig

    flags = flags_of(folder)
    kind = MLATransformerConfig if "multi-latent-attention" in flags else TransformerConfig
    hints = {field.name: field.type for field in dataclasses.fields(kind)}
    fields = {}
    for flag, values in flags.items():
        name = RENAMED.get(flag, flag.replace("-", "_"))
        if flag in SET:
            fields |= SET[flag]
        elif name in hints and name != "pipeline_model_parallel_layout":
            fields[name] = converted(values, hints[name])
    if flags.get("virtual-pipeline-model-parallel-size"):
        fields["virtual_pipeline_model_parallel_size"] = int(flags["virtual-pipeline-model-parallel-size"][0])
    p = plan["parallelism"]
    if "pipeline-model-parallel-layout" in flags:
        layout = PipelineParallelLayerLayout(flags["pipeline-model-parallel-layout"][0], p["pipeline"])
        fields["pipeline_model_parallel_layout"] = layout
        counts = [[sum(layer.name == "decoder" for layer in chunk) for chunk in stage]
                  for stage in layout.layout]
        last = len(plan["model"]["layers"]) - 1
        wanted = [[sum(0 < layer < last for layer in chunk) for chunk in (s.get("chunks") or [s["layers"]])]
                  for s in plan["stages"]]
        assert counts == wanted, (counts, wanted)
    return kind(**fields)


def check_config(plan, folder):
    p, config = plan["parallelism"], config_of(plan, folder)
    assert (config.tensor_model_parallel_size, config.context_parallel_size) == (p["tensor"], p["context"])
    assert config.pipeline_model_parallel_size == p["pipeline"]
    if p["context"] > 1 and p["context_method"] == "hybrid":
        inner = p["context_inner"]
        assert config.hierarchical_context_parallel_sizes == [inner, p["context"] // inner]
    assert config.expert_model_parallel_size == p["expert"]


def model_of(plan, folder):
    """Its GPT model on meta tensors, of layers that need no other library; for a plan of one device."""
    import torch.distributed as dist
    from megatron.core import parallel_state
    from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
    from megatron.core.models.gpt.gpt_model import GPTModel
    from torch.testing._internal.distributed.fake_pg import FakeStore

    if not dist.is_initialized():
        dist.init_process_group("fake", rank=0, world_size=1, store=FakeStore())
        parallel_state.initialize_model_parallel()
    flags, config = flags_of(folder), config_of(plan, folder)
    config.use_cpu_initialization, config.perform_initialization = True, False
    layers = get_gpt_layer_local_spec(num_experts=config.num_moe_experts, qk_layernorm=config.qk_layernorm,
                                      normalization=config.normalization)
    tied = "untie-embeddings-and-output-weights" not in flags
    with torch.device("meta"):
        return GPTModel(config, layers, vocab_size=int(flags["vocab-size"][0]),
                        max_sequence_length=int(flags["max-position-embeddings"][0]),
                        position_embedding_type=flags["position-embedding-type"][0],
                        share_embeddings_and_output_weights=tied)


def check_ranks(plan, folder):
    from megatron.core.parallel_state import RankGenerator

    p = plan["parallelism"]
    order = "tp-cp-ep-pp-dp" if "use-tp-pp-dp-mapping" in flags_of(folder) else "tp-cp-ep-dp-pp"
    ranks = RankGenerator(tp=p["tensor"], ep=1, dp=p["data"], pp=p["pipeline"], cp=p["context"], order=order)
    with open(os.path.join(folder, "placement", "rank_map.csv"), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    places = {"tp": ("tensor",), "cp": ("context",), "pp": ("stage",), "dp": ("copy", "side")}
    for token, varying in places.items():
        groups = {}
        for row in rows:
            fixed = tuple(row[c] for cs in places.values() for c in cs if c not in varying)
            groups.setdefault(fixed, []).append(int(row["rank"]))
        assert sorted(groups.values()) == sorted(map(list, ranks.get_ranks(token))), token
