#include "nest/solve/tree/configuration.hpp"

namespace nest::solve {

std::vector<std::int64_t> degree_key(const Plan& plan) {
  const Parallelism& p = plan.parallelism;
  const Strategy& s = p.strategy;
  return {plan.training.micro_batch,
          s.tensor,
          s.shards_sequence() ? 1 : 0,
          s.context,
          s.context_key(),
          s.expert,
          s.expert_tensor_degree(),
          static_cast<std::int64_t>(s.used_dispatcher()),
          s.overlaps_experts() ? 1 : 0,
          p.pipeline,
          p.data,
          p.zero.number(),
          static_cast<std::int64_t>(p.zero.resharding().kind),
          p.zero.resharding().number,
          p.interleave,
          static_cast<std::int64_t>(p.schedule)};
}

std::vector<std::int64_t> tie_key(const Plan& plan) {
  std::vector<std::int64_t> key = degree_key(plan);
  const Parallelism& p = plan.parallelism;
  key.insert(key.end(), {p.zero_shards, p.data_inner, p.block_devices, p.first_stage_first ? 1 : 0});
  for (const Stage& stage : plan.stages) {
    key.push_back(static_cast<std::int64_t>(stage.layers.size()));
    key.push_back(static_cast<std::int64_t>(stage.recompute.policy));
    key.push_back(stage.recompute.layers);
    key.push_back(static_cast<std::int64_t>(stage.recompute.modules.bits()));
  }
  return key;
}

}  // namespace nest::solve
