#include "nest/plan/rules/complete.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/price/price.hpp"
#include "support/message_of.hpp"

namespace nest::plan {
using namespace price;
namespace {

PlanInputs zoo_inputs(const std::string& model) {
  Warnings warnings;
  return load_inputs(model, "h100-spine-leaf", "megatron", warnings);
}

// A plan as read from `{}`: everything open.
Plan open_plan() {
  Plan plan;
  plan.training.sequence = plan.training.micro_batch = plan.training.micro_batches = 0;
  plan.parallelism.pipeline = plan.parallelism.data = plan.parallelism.data_inner = 0;
  return plan;
}

TEST(Complete, AnEmptyPlanIsOneDevice) {
  Plan plan = open_plan();
  complete_degrees(plan, zoo_inputs("llama3.1-8b"));
  EXPECT_EQ(plan.training.sequence, 8192);
  EXPECT_EQ(plan.training.micro_batch, 1);
  EXPECT_EQ(plan.training.micro_batches, 1024);
  EXPECT_EQ(plan.parallelism.pipeline, 1);
  EXPECT_EQ(plan.parallelism.data, 1);
  EXPECT_EQ(plan.parallelism.data_inner, 1);
  EXPECT_EQ(plan.parallelism.zero_shards, 1);
}

TEST(Complete, AProfileBringsItsOwnSizes) {
  PlanInputs inputs = test::example_inputs();
  std::get<LayerProfile>(inputs.source).micro_batch = 4;
  Plan plan = open_plan();
  plan.training.global_batch = 8;
  complete_degrees(plan, inputs);
  EXPECT_EQ(plan.training.sequence, 512);
  EXPECT_EQ(plan.training.micro_batch, 4);
  EXPECT_EQ(plan.training.micro_batches, 2);
}

TEST(Complete, DegreesFollowFromOthers) {
  Plan plan = open_plan();
  plan.parallelism.strategy = {.tensor = 2, .context = 2, .expert = 8, .expert_tensor = 1};
  plan.parallelism.data = 16;
  plan.parallelism.zero = 1;
  complete_degrees(plan, zoo_inputs("mixtral-8x7b"));
  // Cells of lcm(4, 8) run two micro-batches: 8 copies, dense groups of 8 * 8 / 2 ranks.
  EXPECT_EQ(plan.parallelism.data_inner, 8);
  EXPECT_EQ(plan.parallelism.zero_shards, 32);
  EXPECT_EQ(plan.training.micro_batches, 64);
}

TEST(Complete, DevicesSayHowManyCopiesAndStagesThereAre) {
  Plan plan = open_plan();
  plan.training.global_batch = 8;
  plan.stages.resize(2);
  plan.stages[0].devices = {{DeviceId{1}}, {DeviceId{3}}};
  plan.stages[1].devices = {{DeviceId{0}}, {DeviceId{2}}};
  complete_degrees(plan, test::example_inputs());
  EXPECT_EQ(plan.parallelism.pipeline, 2);
  EXPECT_EQ(plan.parallelism.data, 2);
  EXPECT_EQ(plan.training.micro_batches, 4);
}

TEST(Complete, WhatContradictsItselfIsLeftToTheCheck) {
  Pricer pricer(zoo_inputs("mixtral-8x7b"));
  const auto reason = [&](Parallelism p) {
    Plan plan = open_plan();
    p.pipeline = 1;
    plan.parallelism = p;
    return pricer.price(pricer.complete(plan)).reason;
  };
  constexpr std::int64_t kHuge = 1 << 24;
  Parallelism p;
  p.data = p.data_inner = 0;
  p.strategy.tensor = kHuge;
  EXPECT_EQ(reason(p), "a degree of 16777216 is more than the cluster's 1024 devices");
  p.strategy = {.tensor = 1 << 20, .context = 1 << 20, .expert = 1 << 20};
  EXPECT_EQ(reason(p), "a degree of 1048576 is more than the cluster's 1024 devices");
  p.strategy = {.expert = 8};
  p.data = 4;
  EXPECT_EQ(reason(p),
            "data 4 is no multiple of the 8 micro-batches that a cell of 8 devices runs side by side");
  p.data = kHuge;
  EXPECT_EQ(reason(p),
            "16777216 devices are needed (cells of 8 x 2097152 copies x 1 stages), the cluster has 1024");
}

TEST(Complete, StagesByTheEvenSplit) {
  Pricer pricer(zoo_inputs("llama3.1-70b"));
  Plan plan = open_plan();
  plan.parallelism.pipeline = 4;
  plan.parallelism.strategy = {.tensor = 8, .sequence_parallel = true};
  plan.default_recompute = {RecomputePolicy::full, 0};
  plan = pricer.complete(plan);
  ASSERT_EQ(plan.stages.size(), 4U);
  EXPECT_EQ(plan.stages[0].layers.size(), 21U);
  EXPECT_EQ(plan.stages[3].layers.back(), LayerId{81});
  EXPECT_EQ(plan.stages[2].strategy.tensor, 8);
  EXPECT_EQ(plan.stages[2].recompute.policy, RecomputePolicy::full);
  EXPECT_TRUE(plan.stages[0].chunks.empty());
}

TEST(Complete, InterleavedStagesGetChunksPApart) {
  Pricer pricer(zoo_inputs("gpt2"));  // 12 blocks
  Plan plan = open_plan();
  plan.parallelism.pipeline = 2;
  plan.parallelism.interleave = 3;
  plan.parallelism.schedule = Schedule::interleaved;
  plan = pricer.complete(plan);
  ASSERT_EQ(plan.stages.size(), 2U);
  ASSERT_EQ(plan.stages[0].chunks.size(), 3U);
  EXPECT_EQ(plan.stages[0].chunks[0].back(), LayerId{2});  // embedding and two blocks
  EXPECT_EQ(plan.stages[1].chunks[0].front(), LayerId{3});
  EXPECT_EQ(plan.stages[0].chunks[1].front(), LayerId{5});
  EXPECT_EQ(plan.stages[1].chunks[2].back(), LayerId{13});
  EXPECT_NE(pricer.price(plan).status, PriceStatus::invalid);
}

// Layers without chunks: chunks of one device are apart in the model, so gaps are where they end.
TEST(Complete, ChunksAreFoundByTheirGaps) {
  Plan plan = test::example_plan({{0, 2}, {1}}, 1, 1);
  plan.parallelism.interleave = 2;
  plan.parallelism.schedule = Schedule::interleaved;
  const PlanInputs inputs = test::example_inputs();
  complete_stages(plan, LayerGraph(*inputs.profile()));
  ASSERT_EQ(plan.stages[0].chunks.size(), 2U);
  EXPECT_EQ(plan.stages[0].chunks[1], std::vector<LayerId>{LayerId{2}});
  EXPECT_TRUE(plan.stages[1].chunks.empty());  // check_plan says that they are missing
}

TEST(Complete, TooManyStagesAreAnError) {
  Pricer pricer(zoo_inputs("gpt2"));
  Plan plan = open_plan();
  plan.parallelism.pipeline = 1 << 24;
  EXPECT_EQ(message_of([&] { static_cast<void>(pricer.complete(plan)); }),
            "pipeline: 12 blocks cannot be split over 16777216 stages and chunks");
}

}  // namespace
}  // namespace nest::plan
