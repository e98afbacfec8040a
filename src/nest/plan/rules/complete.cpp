#include "nest/plan/rules/complete.hpp"

#include <algorithm>
#include <utility>

#include "nest/plan/plan.hpp"
#include "nest/plan/rules/even_split.hpp"
#include "nest/plan/schedules/schedule.hpp"

namespace nest::plan {
namespace {

// side() multiplies degrees out, which only makes sense (and cannot overflow) within a cluster's size.
bool sane(const Strategy& s, std::int64_t devices) {
  const auto fits = [&](std::int64_t a, std::int64_t b) {
    return a >= 1 && b >= 1 && a <= devices && b <= devices && a * b <= devices;
  };
  return fits(s.tensor, s.context) && fits(s.expert_tensor_degree(), s.expert);
}

}  // namespace

void complete_degrees(Plan& plan, const PlanInputs& inputs) {
  Training& t = plan.training;
  Parallelism& p = plan.parallelism;
  if (t.sequence == 0) t.sequence = inputs.default_sequence();
  if (t.micro_batch == 0) t.micro_batch = inputs.profile() != nullptr ? inputs.profile()->micro_batch : 1;
  if (p.pipeline == 0) p.pipeline = std::max<std::int64_t>(1, static_cast<std::int64_t>(plan.stages.size()));
  if (!sane(p.strategy,
            inputs.cluster.devices())) {  // refused by check_plan; nothing may divide by 0 until then
    p.data = std::max<std::int64_t>(1, p.data);
    p.data_inner = std::max<std::int64_t>(1, p.data_inner);
    return;
  }
  const std::int64_t side = p.strategy.side();
  if (p.data == 0) {
    const std::size_t copies = plan.placed() ? plan.stages.front().devices.size() : 1;
    p.data = side * static_cast<std::int64_t>(copies);
  }
  if (p.data_inner == 0) p.data_inner = std::max<std::int64_t>(1, p.data / side);
  if (t.micro_batches == 0)
    t.micro_batches = t.global_batch / std::max<std::int64_t>(1, t.micro_batch * p.data);
  const std::int64_t group = p.data / side * p.strategy.cell() / p.strategy.tensor;
  if (!p.zero.shards_anything()) {
    p.zero_shards = 1;
  } else if (p.zero_shards == 0) {
    p.zero_shards = group;
  }
}

void complete_stages(Plan& plan, const LayerGraph& graph) {
  const Parallelism& p = plan.parallelism;
  const auto v = static_cast<std::size_t>(p.interleave);
  const auto stages = static_cast<std::size_t>(p.pipeline);
  if (plan.stages.empty()) {
    std::vector<std::vector<LayerId>> parts = even_split(graph, p.pipeline * p.interleave, plan.split);
    plan.stages.resize(stages);
    for (std::size_t i = 0; i < stages; ++i) {
      Stage& stage = plan.stages[i];
      stage.strategy = p.strategy;
      stage.recompute = plan.default_recompute;
      for (std::size_t c = 0; c < v; ++c) {
        std::vector<LayerId>& part = parts[part_of(p.schedule, stages, {i, c})];
        stage.layers.insert(stage.layers.end(), part.begin(), part.end());
        if (v > 1) stage.chunks.push_back(std::move(part));
      }
    }
    return;
  }
  if (v == 1) return;
  for (Stage& stage : plan.stages) {
    if (!stage.chunks.empty() || stage.layers.size() < v) continue;
    // Chunks of one device are apart in the model: gaps between ids are where they end.
    std::vector<std::vector<LayerId>> runs;
    for (const LayerId id : stage.layers) {
      if (runs.empty() || runs.back().back().value + 1 != id.value) runs.emplace_back();
      runs.back().push_back(id);
    }
    if (runs.size() == v) stage.chunks = std::move(runs);
  }
}

}  // namespace nest::plan
