// Answers of searches for tests of what is said about them: hand-made plans with results on 8 devices.
#pragma once

#include <utility>
#include <vector>

#include "nest/cluster/cluster_file.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/test_example.hpp"
#include "nest/solve/ask/search.hpp"

namespace nest::test {
using namespace report;

// The example's layers on two nodes of four devices with 80 GB.
[[nodiscard]] inline PlanInputs eight_devices() {
  PlanInputs inputs = example_inputs();
  ClusterParts parts = inputs.cluster.parts();
  parts.name = "eight";
  parts.levels[0].fan_out.size = 4;
  inputs.cluster = Cluster(std::move(parts));
  return inputs;
}

// Stages of so many layers each; stage i takes (4 + i) GB and 10 ms for a micro-batch.
[[nodiscard]] inline Plan answer_plan(const std::vector<int>& layers, std::int64_t data, Seconds compute,
                                      Seconds bubble) {
  Plan plan;
  plan.training = {.global_batch = 8, .sequence = 512, .micro_batches = 8 / data};
  plan.parallelism.pipeline = static_cast<std::int64_t>(layers.size());
  plan.parallelism.data = data;
  plan.parallelism.data_inner = data;
  std::int32_t next = 0;
  std::int64_t extra = 0;
  for (const int count : layers) {
    Stage& stage = plan.stages.emplace_back();
    for (int i = 0; i < count; ++i) stage.layers.emplace_back(next++);
    stage.time = StageTime{.forward = Seconds{0.004}, .backward = Seconds{0.006}};
    stage.memory = StageMemory{.weights = Bytes{1'000'000'000},
                               .activations = Bytes{3'000'000'000 + 1'000'000'000 * extra++},
                               .capacity = Bytes{80'000'000'000}};
  }
  Prediction& p = plan.predicted.emplace();
  p.breakdown.compute = compute;
  p.breakdown.bubble = bubble;
  p.step = compute + bubble;
  p.bubble_fraction = bubble.value / p.step.value;
  p.tokens_per_s = 8 * 512 / p.step.value;
  p.mfu = 0.4;
  return plan;
}

[[nodiscard]] inline SearchResult answer(std::vector<Plan> plans, PlanStatus status = PlanStatus::optimal) {
  SearchResult found;
  found.status = status;
  found.lower_bound = plans.front().predicted->step;
  if (status != PlanStatus::optimal) found.lower_bound = found.lower_bound * 0.8;
  found.plans = std::move(plans);
  return found;
}

}  // namespace nest::test
