#include "nest/frameworks/deepspeed/deepspeed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "nest/frameworks/common/notes.hpp"
#include "nest/frameworks/common/placement_files.hpp"
#include "nest/frameworks/deepspeed/python_modules.hpp"

namespace nest::frameworks {
namespace {

using Problem = std::optional<std::string>;

Problem heads_over_context(const ExportFacts& f) {
  const AttentionSpec* a = f.attention();
  const std::int64_t ranks = f.strategy().context * f.strategy().tensor;
  if (f.strategy().context == 1 || a == nullptr || a->heads % ranks == 0) return std::nullopt;
  return fmt::format("{} heads, {} ranks", a->heads, ranks);
}

constexpr std::array kRules{
    ExportRule{"world", "DeepSpeed's ranks are pipeline x data x context x tensor", world_does_not_split},
    ExportRule{"batch", "DeepSpeed's batch is micro-batch x accumulation steps x data ranks",
               batch_does_not_split},
    ExportRule{"heads", "DeepSpeed splits attention heads evenly over tensor ranks", heads_do_not_split},
    ExportRule{"query-groups", "DeepSpeed's query groups divide the tensor degree or are divided by it",
               query_groups_do_not_split},
    ExportRule{"ffn", "DeepSpeed splits the ffn evenly over tensor ranks", ffn_does_not_split},
    ExportRule{"experts", "DeepSpeed splits experts evenly over expert ranks", experts_do_not_split},
    ExportRule{"sequence", "DeepSpeed splits the sequence evenly over context ranks",
               sequence_does_not_split},
    ExportRule{"context-heads", "DeepSpeed's Ulysses splits heads evenly over context and tensor ranks",
               heads_over_context},
};

Value partition_value(const ExportFacts& f) {
  Value bounds = Value::array();
  for (const std::int64_t bound : stage_bounds(f)) bounds.push(bound);
  Value layers = Value::array();
  for (const std::string& name : f.layers) layers.push(name);
  Value out = Value::object();
  out.set("layers", std::move(layers)).set("bounds", std::move(bounds));
  out.set("nearest_partition_method", partition_method(f).name).set("exact", partition_method(f).exact);
  return out;
}

std::string hostfile(const RankMap& map) {
  std::string out;
  for (const HostRow& host : map.hosts) out += fmt::format("{} slots={}\n", host.name, host.ranks.size());
  return out;
}

std::vector<std::string> losses(const ExportFacts& f, const RankMap& map) {
  const Parallelism& p = f.parallelism();
  std::vector<std::string> lost;
  if (p.pipeline > 1 && p.data > 1 && f.recipe().overlap.gradient_reduce > 0)
    lost.emplace_back(
        "with a pipeline, DeepSpeed reduces gradients after the last micro-batch, not during it");
  const bool local = std::all_of(map.hosts.begin(), map.hosts.end(), [](const HostRow& host) {
    return std::is_sorted(host.local_devices.begin(), host.local_devices.end());
  });
  if (!map.consecutive || !local)
    lost.emplace_back(
        "the deepspeed launcher numbers devices host by host: run_host.sh puts ranks where the plan does");
  if (p.zero.shards_parameters() && p.zero_shards < p.data * p.strategy.context)
    lost.emplace_back(
        "shards over a part of the ranks are MiCS, which the model enters by deepspeed.zero.MiCS_Init");
  if (p.strategy.tensor > 1 && p.pipeline > 1)
    lost.emplace_back(
        "tensor parallelism inside a pipeline is the layers' own: nest_pipeline.py makes its groups alone");
  if (p.strategy.tensor > 1 && p.strategy.context > 1)
    lost.emplace_back(
        "tensor and context parallelism together: give DeepSpeed an mpu with the groups of both");
  return lost;
}

std::vector<std::string> remarks(const ExportFacts& f) {
  const Parallelism& p = f.parallelism();
  std::vector<std::string> out{"the training script: TRAIN_SCRIPT, which takes --deepspeed_config"};
  if (p.pipeline > 1) {
    out.push_back(fmt::format(
        "the model: nest_pipeline.NestPipelineModule(layers), which has the plan's stages; "
        "PipelineModule(num_stages={}, partition_method='{}', activation_checkpoint_interval={}) {}",
        p.pipeline, partition_method(f).name,
        f.plan().stages.front().recompute.policy == RecomputePolicy::full ? 1 : 0,
        partition_method(f).exact ? "has the same" : "comes near"));
  } else if (f.plan().stages.front().recompute.policy == RecomputePolicy::full) {
    out.emplace_back("recomputation: wrap every block in deepspeed.checkpointing.checkpoint");
  }
  if (p.strategy.context > 1)
    out.emplace_back(
        "context parallelism: nest_ulysses.py registers Ulysses with Transformers and cuts batches");
  if (p.strategy.expert > 1)
    out.push_back(fmt::format("experts: deepspeed.moe.layer.MoE(ep_size={}{})", p.strategy.expert,
                              p.strategy.tensor > 1 ? ", enable_expert_tensor_parallelism=True" : ""));
  return out;
}

constexpr std::string_view kCommand = R"sh(#!/bin/bash
# deepspeed.sh LAUNCHER..: the training script with ds_config.json.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${TRAIN_SCRIPT:?set it to your training script}"
read -ra own <<< "${TRAIN_ARGS:-}"
export PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH}
exec "$@" "$TRAIN_SCRIPT" --deepspeed --deepspeed_config "$here/ds_config.json" "${own[@]}"
)sh";

}  // namespace

std::span<const ExportRule> deepspeed_rules() {
  return kRules;
}

Value deepspeed_config(const ExportFacts& f) {
  const Parallelism& p = f.parallelism();
  const Training& t = f.plan().training;
  const Recipe& r = f.recipe();
  Value enabled = Value::object();
  enabled.set("enabled", true);
  Value out = Value::object();
  out.set("train_batch_size", t.global_batch).set("train_micro_batch_size_per_gpu", t.micro_batch);
  out.set("gradient_accumulation_steps", t.micro_batches);
  out.set(t.precision == Precision::fp16 ? "fp16" : "bf16", std::move(enabled));
  Value optimizer = Value::object();
  Value none = Value::object();
  optimizer.set("type", t.optimizer == Optimizer::adam ? "AdamW" : "SGD").set("params", std::move(none));
  out.set("optimizer", std::move(optimizer));
  out.set("communication_data_type", name_of(r.reduce_dtype));
  if (t.states.gradients) {
    Value dtypes = Value::object();
    dtypes.set("grad_accum_dtype", name_of(r.gradient_dtype));
    out.set("data_types", std::move(dtypes));
  }
  Value zero = Value::object();
  zero.set("stage", p.zero.number()).set("overlap_comm", r.overlap.gradient_reduce > 0 && p.pipeline == 1);
  zero.set("contiguous_gradients", true).set("reduce_bucket_size", 500'000'000);
  zero.set("allgather_bucket_size", 500'000'000);
  const std::int64_t group = p.data * p.strategy.context;
  if (p.zero.shards_parameters() && p.zero_shards < group) zero.set("mics_shard_size", p.zero_shards);
  if (p.zero.resharding().group() > 0) zero.set("zero_hpz_partition_size", p.zero.resharding().group());
  if (t.states.offload.optimizer) {
    Value host = Value::object();
    host.set("device", "cpu").set("pin_memory", true);
    zero.set("offload_optimizer", std::move(host));
  }
  out.set("zero_optimization", std::move(zero));
  if (p.strategy.tensor > 1) {
    Value tensor = Value::object();
    tensor.set("autotp_size", p.strategy.tensor);
    out.set("tensor_parallel", std::move(tensor));
  }
  if (p.strategy.context > 1) out.set("sequence_parallel_size", p.strategy.context);
  if (p.pipeline > 1) {
    const bool full = f.plan().stages.front().recompute.policy == RecomputePolicy::full;
    Value pipeline = Value::object();
    pipeline.set("stages", p.pipeline).set("partition", partition_method(f).name);
    pipeline.set("activation_checkpoint_interval", full ? 1 : 0);
    out.set("pipeline", std::move(pipeline));
  } else if (f.plan().stages.front().recompute.policy == RecomputePolicy::full) {
    // What deepspeed.checkpointing.configure reads; the model calls checkpoint() for every block.
    Value checkpointing = Value::object();
    checkpointing.set("partition_activations", false).set("number_checkpoints", f.blocks);
    out.set("activation_checkpointing", std::move(checkpointing));
  }
  return out;
}

PartitionMethod partition_method(const ExportFacts& f) {
  const auto stages = static_cast<std::int64_t>(f.parts.size());
  const auto layers = static_cast<std::int64_t>(f.layers.size());
  // The first stages have one layer more where they do not divide.
  bool uniform = true;
  for (std::int64_t i = 0; i < stages; ++i) {
    const std::int64_t own = layers / stages + (i < layers % stages ? 1 : 0);
    uniform = uniform && static_cast<std::int64_t>(f.parts[static_cast<std::size_t>(i)].layers.size()) == own;
  }
  if (uniform) return {"uniform", true};
  return {"type:block", f.even()};
}

ExportResult export_deepspeed(const ExportQuestion& question, const ExportSink& sink) {
  ExportResult result;
  const ExportFacts facts = export_facts(question, "deepspeed");
  result.releases = {facts.release};
  if (auto broken = first_broken(facts, "deepspeed", kRules)) {
    result.rule = broken->name;
    result.sentence = broken->sentence;
    return result;
  }
  const RankMap map = make_rank_map(question, RankOrder::data_before_stage);
  result.lost = losses(facts, map);
  for (std::string& sentence : placement_losses(map)) result.lost.push_back(std::move(sentence));
  result.next = {"TRAIN_SCRIPT=train.py ./run_host.sh on each host of placement/hosts.txt",
                 "or TRAIN_SCRIPT=train.py sbatch run_slurm.sh",
                 "or deepspeed --hostfile hostfile train.py --deepspeed_config ds_config.json"};
  sink({"ds_config.json", to_json(deepspeed_config(facts)) + "\n"});
  sink({"hostfile", hostfile(map)});
  if (question.plan.parallelism.pipeline > 1) {
    sink({"partition.json", to_json(partition_value(facts)) + "\n"});
    sink({"nest_pipeline.py", pipeline_module(facts)});
  }
  if (question.plan.parallelism.strategy.context > 1) sink({"nest_ulysses.py", ulysses_module(facts)});
  sink({"deepspeed.sh", std::string(kCommand), true});
  sink({"run_host.sh", host_script(map, "deepspeed.sh"), true});
  sink({"run_slurm.sh", slurm_script(map, "nest-deepspeed", "deepspeed.sh"), true});
  write_placement(map, "placement/", sink);
  const Tuning& tuning = question.plan.training.tuning;
  std::vector<std::string> left = remarks(facts);
  for (std::string& sentence : peft_remarks(tuning)) left.push_back(std::move(sentence));
  if (!tuning.whole()) sink({"adapter_config.json", to_json(peft_config(tuning)) + "\n"});
  sink({"NOTES.md", export_notes(question, map, "DeepSpeed", result, left)});
  return result;
}

}  // namespace nest::frameworks
