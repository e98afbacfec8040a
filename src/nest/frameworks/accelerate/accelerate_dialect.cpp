#include "nest/frameworks/accelerate/accelerate_dialect.hpp"

#include <array>
#include <string>
#include <utility>

#include "nest/frameworks/accelerate/accelerate.hpp"
#include "nest/frameworks/common/fsdp.hpp"
#include "nest/frameworks/deepspeed/deepspeed_dialect.hpp"

namespace nest::frameworks {
namespace {

std::vector<Flag> settings(const ExportFacts& f) {
  const Parallelism& p = f.parallelism();
  const Strategy& s = p.strategy;
  const Training& t = f.plan().training;
  const bool ring = s.context_method == ContextMethod::ring;
  const bool shards = p.zero.shards_anything();
  const std::int64_t shard = shards ? p.zero_shards / s.context : 1;
  std::vector<Flag> out;
  const auto put = [&](std::string name, std::string value) {
    out.push_back({std::move(name), {std::move(value)}});
  };
  const auto size = [&](const char* name, std::int64_t value) {
    put(std::string("parallelism_config.parallelism_config_") + name, std::to_string(value));
  };
  put("distributed_type", shards ? "FSDP" : "MULTI_GPU");
  size("dp_replicate_size", p.data / shard);
  size("dp_shard_size", shard);
  size("tp_size", s.tensor);
  size("cp_size", ring ? s.context : 1);
  size("sp_size", ring ? 1 : s.context);
  if (shards) put("fsdp_config.fsdp_reshard_after_forward", frees_gathered(p.zero) ? "true" : "false");
  const bool full = f.plan().stages.front().recompute.policy == RecomputePolicy::full;
  put("fsdp_config.fsdp_activation_checkpointing", full ? "true" : "false");
  put("per_device_train_batch_size (script)", std::to_string(t.micro_batch));
  put("gradient_accumulation_steps", std::to_string(t.micro_batches));
  return out;
}

Dialect deepspeed_in_accelerate() {
  Dialect dialect = deepspeed_dialect();
  dialect.name = "accelerate-deepspeed";
  for (Knob& knob : dialect.knobs) {
    constexpr std::array<std::string_view, 4> kStages{
        "deepspeed_config.zero_stage: 0", "deepspeed_config.zero_stage: 1", "deepspeed_config.zero_stage: 2",
        "deepspeed_config.zero_stage: 3"};
    if (knob.turn == Turn::zero) knob.words = kStages.at(static_cast<std::size_t>(knob.value));
    if (knob.turn == Turn::micro_batch) knob.words = "a batch of {0} in the script's data loader";
  }
  return dialect;
}

}  // namespace

const Dialect& accelerate_dialect() {
  static const Dialect kDialect{
      .name = "accelerate",
      .framework = "accelerate",
      .title = "Accelerate",
      .recipe = "accelerate",
      .noun = "key",
      .free = {},
      .knobs = {{Turn::recompute, 0, "fsdp_config.fsdp_activation_checkpointing: false"},
                {Turn::recompute, 2, "fsdp_config.fsdp_activation_checkpointing: true"},
                {Turn::micro_batch, 0, "a batch of {0} in the script's data loader"},
                {Turn::reshard, 0, "fsdp_config.fsdp_reshard_after_forward: true"},
                {Turn::reshard, 1, "fsdp_config.fsdp_reshard_after_forward: false"},
                {Turn::zero, 3, "distributed_type: FSDP", {0}}},
      .rules = accelerate_rules,
      .settings = settings};
  return kDialect;
}

const Dialect& accelerate_deepspeed_dialect() {
  static const Dialect kDialect = deepspeed_in_accelerate();
  return kDialect;
}

}  // namespace nest::frameworks
