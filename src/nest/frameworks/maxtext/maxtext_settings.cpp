#include "nest/frameworks/maxtext/maxtext_settings.hpp"

#include <fmt/format.h>

#include "nest/frameworks/maxtext/maxtext_adapters.hpp"
#include "nest/frameworks/maxtext/maxtext_models.hpp"
#include "nest/plan/plan.hpp"

namespace nest::frameworks {
namespace {

std::string_view dtype_name(StateDType dtype) {
  return dtype == StateDType::fp32 ? "float32" : dtype == StateDType::bf16 ? "bfloat16" : "float16";
}

// Numbers without a point stay whole numbers.
Value sequences_per_device(std::int64_t sequences, std::int64_t devices) {
  if (sequences % devices == 0) return sequences / devices;
  return static_cast<double>(sequences) / static_cast<double>(devices);
}

void add_batch(Value& out, const ExportFacts& f) {
  const Training& t = f.plan().training;
  const Parallelism& p = f.parallelism();
  const bool pipeline = p.pipeline > 1;
  // A pipeline cuts the batch of a step itself; otherwise micro-batches are accumulated.
  const std::int64_t sequences = t.micro_batch * p.data * (pipeline ? t.micro_batches : 1);
  out.set("per_device_batch_size", sequences_per_device(sequences, p.devices()));
  out.set("gradient_accumulation_steps", pipeline ? 1 : t.micro_batches);
  out.set("max_target_length", t.sequence);
}

void add_pipeline(Value& out, const ExportFacts& f) {
  const MaxTextStages stages = maxtext_stages(f);
  out.set("num_layers_per_pipeline_stage", stages.layers).set("num_pipeline_repeats", 1);
  out.set("num_pipeline_microbatches", f.plan().training.micro_batches);
  if (stages.left_over > 0) out.set("pipeline_parallel_layers", stages.layers * f.parallelism().pipeline);
  // Scans go over the passes of the pipeline, as base.yml advises.
  out.set("scan_layers", false);
}

void add_precision(Value& out, const ExportFacts& f) {
  const Recipe& r = f.recipe();
  out.set("dtype", "bfloat16");
  out.set("weight_dtype", dtype_name(r.master_weights ? StateDType::fp32 : r.parameter_dtype));
  out.set("grad_dtype", dtype_name(r.gradient_dtype));
  if (f.plan().training.optimizer == Optimizer::adam) out.set("mu_dtype", dtype_name(r.optimizer_dtype));
  if (f.plan().training.precision != Precision::fp8) return;
  // Transformer Engine's scaling accumulates gradients; MaxText's own fp8 for GPUs does not.
  out.set("quantization", on_tpus(f) ? "fp8_full" : "te_fp8_currentscaling");
  if (on_tpus(f)) out.set("use_qwix_quantization", true);
}

}  // namespace

std::string_view remat_policy(const LayerPolicy& policy) {
  switch (policy.policy) {
    case RecomputePolicy::full:
      return "full";
    case RecomputePolicy::selective:
      return "minimal";
    case RecomputePolicy::modules:  // of the sets that maxtext_table() has
      return policy.modules.has(RecomputeModule::core_attn) ? "save_dot_except_mlp"
                                                            : "save_dot_with_context_except_mlp";
    case RecomputePolicy::none:
      return "minimal_with_context";
  }
  return "";
}

MaxTextStages maxtext_stages(const ExportFacts& f) {
  std::int64_t layers = maxtext_layers(*f.spec);
  // Leading dense layers of DeepSeek run outside the pipeline.
  if (f.spec->family.starts_with("deepseek")) {
    for (const BlockSpec& block : f.spec->stacks.front().blocks) layers -= block.experts ? 0 : 1;
  }
  const std::int64_t stages = f.parallelism().pipeline;
  return {layers / stages, layers % stages};
}

Value maxtext_settings(const ExportFacts& f, const MaxTextMesh& mesh) {
  const Parallelism& p = f.parallelism();
  const std::string_view model = find_maxtext_model(*f.spec);
  Value out = Value::object();
  const bool tuned = !f.plan().training.tuning.whole();
  out.set("base_config", tuned ? "post_train/sft.yml" : "base.yml").set("run_name", "nest-plan");
  out.set("model_name", model.empty() ? "default" : model);
  if (model.empty()) {
    std::vector<std::string> named;  // by the exporter
    const Value keys = maxtext_model_keys(*f.spec, named);
    for (const auto& [key, value] : *keys.as_object()) out.set(key, value);
  }
  out.set("hardware", on_tpus(f) ? "tpu" : "gpu");
  for (const MaxTextAxis& axis : mesh.axes) out.set(fmt::format("dcn_{}_parallelism", axis.name), axis.dcn);
  for (const MaxTextAxis& axis : mesh.axes) out.set(fmt::format("ici_{}_parallelism", axis.name), axis.ici);
  // Degrees that are no product of a torus's sides are laid over parts of them.
  out.set("allow_split_physical_axes", true);
  out.set("shard_optimizer_over_data", p.zero.scatters_at_step_end());
  add_batch(out, f);
  if (p.pipeline > 1) add_pipeline(out, f);
  if (p.strategy.context > 1) {
    out.set("context_parallel_strategy", on_tpus(f) ? "all_gather" : "ring");
    out.set("context_parallel_load_balance", true);
  }
  out.set("attention", on_tpus(f) ? "flash" : "cudnn_flash_te");
  out.set("remat_policy", remat_policy(f.plan().stages.front().recompute.chosen()));
  add_precision(out, f);
  const Optimizer optimizer = f.plan().training.optimizer;
  out.set("opt_type", optimizer == Optimizer::adam ? std::string_view("adamw") : name_of(optimizer));
  if (tuned) {
    out.set("lora", maxtext_adapters(f).settings);
  } else {
    out.set("dataset_type", "synthetic");
  }
  out.set("packing", false);
  out.set("steps", 10).set("enable_checkpointing", false);
  return out;
}

}  // namespace nest::frameworks
