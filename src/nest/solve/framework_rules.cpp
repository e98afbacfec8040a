#include "nest/solve/framework_rules.hpp"

#include <algorithm>
#include <array>

namespace nest {
namespace {

// Ranks that hold the same dense parameters: data and context ranks.
std::int64_t dense_group(const Parallelism& p) {
  return p.copies() * p.strategy.cell() / p.strategy.tensor;
}

std::int64_t shards(const Parallelism& p) {
  if (p.zero == 0) return 1;
  return p.zero_shards > 0 ? p.zero_shards : dense_group(p);
}

bool experts_with_sequence_parallel(const PlanDegrees& d) {
  const Strategy& s = d.parallelism.strategy;
  return s.tensor == 1 || s.expert == 1 || s.sequence_parallel;
}

bool micro_batches_in_rounds(const PlanDegrees& d) {
  const Parallelism& p = d.parallelism;
  return p.interleave == 1 || (p.pipeline > 1 && d.training.micro_batches % p.pipeline == 0);
}

constexpr std::array kMegatron{
    FrameworkRule{"experts-need-sequence-parallel",
                  "Megatron-LM needs sequence parallelism where tensor and expert parallelism meet",
                  experts_with_sequence_parallel},
    FrameworkRule{"interleaving-in-rounds",
                  "Megatron-LM interleaves with a pipeline of 2 or more whose degree divides the "
                  "micro-batches",
                  micro_batches_in_rounds},
};

constexpr std::array kTorchtitan{
    FrameworkRule{"no-zero-1", "torchtitan shards with FSDP (ZeRO 2 or 3) or not at all: it has no ZeRO 1",
                  [](const PlanDegrees& d) { return d.parallelism.zero != 1; }},
    FrameworkRule{"expert-tensor", "torchtitan's experts have a tensor degree of 1 or that of the rest",
                  [](const PlanDegrees& d) {
                    const Strategy& s = d.parallelism.strategy;
                    return s.expert == 1 || s.expert_tensor_degree() == 1 ||
                           s.expert_tensor_degree() == s.tensor;
                  }},
    // The mesh of experts is made of the dense one's shard, context and (with expert tensor 1) tensor ranks.
    FrameworkRule{"experts-in-shards",
                  "torchtitan's expert degree divides the ranks that FSDP shards over (times the tensor "
                  "degree where expert tensor is 1)",
                  [](const PlanDegrees& d) {
                    const Strategy& s = d.parallelism.strategy;
                    if (s.expert == 1) return true;
                    const std::int64_t ranks = std::max(shards(d.parallelism), s.context);
                    if (s.expert_tensor_degree() == 1) return ranks * s.tensor % s.expert == 0;
                    return s.expert % s.context == 0 && ranks % s.expert == 0;
                  }},
    FrameworkRule{"interleaving-in-rounds",
                  "torchtitan interleaves with a pipeline of 2 or more whose degree divides the "
                  "micro-batches",
                  micro_batches_in_rounds},
};

constexpr std::array kDeepSpeed{
    FrameworkRule{"zero-with-pipeline", "DeepSpeed's pipeline engine runs with ZeRO 0 and 1 only",
                  [](const PlanDegrees& d) { return d.parallelism.pipeline == 1 || d.parallelism.zero < 2; }},
    FrameworkRule{"partial-shards",
                  "DeepSpeed shards over a part of the ranks (MiCS, ZeRO++) with ZeRO 3 only",
                  [](const PlanDegrees& d) {
                    const Parallelism& p = d.parallelism;
                    return p.zero == 0 || p.zero == 3 || shards(p) == dense_group(p);
                  }},
    FrameworkRule{"context-by-heads", "DeepSpeed's context parallelism (Ulysses) is all_to_all",
                  [](const PlanDegrees& d) {
                    const Strategy& s = d.parallelism.strategy;
                    return s.context == 1 || s.context_method == ContextMethod::all_to_all;
                  }},
};

}  // namespace

const FrameworkRule* FrameworkRules::broken(const PlanDegrees& degrees) const {
  const auto at =
      std::find_if(rules.begin(), rules.end(), [&](const FrameworkRule& r) { return !r.allows(degrees); });
  return at == rules.end() ? nullptr : &*at;
}

std::span<const FrameworkRules> all_framework_rules() {
  static const std::array<FrameworkRules, 3> kAll{
      FrameworkRules{.name = "megatron",
                     .title = "Megatron-LM",
                     .same_recompute = true,
                     .contiguous_stages = true,
                     .schedules = {Schedule::one_f_one_b, Schedule::interleaved},
                     .rules = kMegatron},
      FrameworkRules{.name = "torchtitan",
                     .title = "torchtitan",
                     .same_recompute = true,
                     .contiguous_stages = true,
                     .schedules = {Schedule::one_f_one_b, Schedule::interleaved, Schedule::gpipe},
                     .rules = kTorchtitan,
                     .whole_recompute = true},
      FrameworkRules{.name = "deepspeed",
                     .title = "DeepSpeed",
                     .same_recompute = true,
                     .contiguous_stages = true,
                     .schedules = {Schedule::one_f_one_b},
                     .rules = kDeepSpeed,
                     .whole_recompute = true},
  };
  return kAll;
}

const FrameworkRules* find_framework_rules(std::string_view name) {
  for (const FrameworkRules& rules : all_framework_rules()) {
    if (rules.name == name) return &rules;
  }
  return nullptr;
}

}  // namespace nest
