// Whole training steps beside measurements: steps of Transformers on one H200 (docs/launches.md). All rows are in
// data/profiles/h200.launches.json, and tools/profile/compare_steps.py prints them beside predictions.
#include <gtest/gtest.h>

#include "nest/cluster/catalog.hpp"
#include "nest/price/price.hpp"

namespace nest::price {
namespace {

struct Measured {
  const char* model;
  std::int64_t batch;
  std::int64_t sequence;
  bool checkpointing;
  double step_s;
  std::int64_t allocated;  // bytes at the peak
};

constexpr Measured kSteps[]{
    {"llama3.2-1b", 1, 2048, false, 0.063174, 14'230'518'784},
    {"llama3.2-1b", 4, 2048, false, 0.16851, 34'471'091'200},
    {"llama3.2-1b", 4, 2048, true, 0.20328, 20'763'057'152},
    {"llama3.2-1b", 1, 8192, true, 0.23563, 20'764'679'168},
    {"qwen3-1.7b", 1, 2048, false, 0.14487, 20'635'108'352},
    {"qwen3-1.7b", 4, 2048, true, 0.35349, 26'405'385'216},
    {"llama3.2-3b", 1, 2048, false, 0.13288, 30'071'479'296},
    {"llama3.2-3b", 4, 2048, false, 0.39553, 62'245'174'272},
    {"llama3.2-3b", 4, 2048, true, 0.4903, 33'565'821'952},
    {"llama3-8b", 1, 2048, false, 0.25488, 64'632'393'216},
    {"llama3-8b", 4, 2048, true, 0.98588, 65'190'416'896},
};

TEST(PriceMeasured, StepsOfTransformersOnOneDevice) {
  ClusterParts parts{.name = "one", .accelerator = find_accelerator("h200")};
  parts.levels.push_back({.name = "node", .bandwidth = BytesPerSecond{450e9}, .latency = Seconds{1e-6}});
  parts.levels[0].fan_out.size = 1;
  const Cluster cluster(std::move(parts));
  for (const Measured& row : kSteps) {
    Warnings warnings;
    Pricer pricer(
        {Value(row.model), load_model(row.model, warnings), cluster, named_recipe("transformers"), {}});
    Plan plan;
    plan.training.sequence = row.sequence;
    plan.training.micro_batch = plan.training.global_batch = row.batch;
    plan.training.micro_batches = 1;
    plan.default_recompute = {row.checkpointing ? RecomputePolicy::full : RecomputePolicy::none, 0};
    const PricedPlan priced = pricer.price(pricer.complete(plan));
    ASSERT_NE(priced.status, PriceStatus::invalid) << priced.reason;
    const auto where = ::testing::Message() << row.model << " " << row.batch << " x " << row.sequence;
    EXPECT_NEAR(priced.predicted.step.value / row.step_s, 1, 0.08) << where;
    const auto allocated = static_cast<double>(priced.stages[0].memory.allocated().value);
    EXPECT_NEAR(allocated / static_cast<double>(row.allocated), 1, 0.02) << where;
  }
}

}  // namespace
}  // namespace nest::price
