#include "nest/plan/plan.hpp"

#include <gtest/gtest.h>

namespace nest::plan {
namespace {

TEST(Plan, WordsAndTheirMeaningGoBothWays) {
  for (const char* word : {"1f1b", "gpipe", "interleaved", "zb-h1", "zb-v"}) {
    ASSERT_TRUE(find_schedule(word));
    EXPECT_EQ(name_of(*find_schedule(word)), word);
  }
  for (const char* word : {"1f1b", "sum-max", "paper"}) {
    ASSERT_TRUE(find_pipeline_model(word));
    EXPECT_EQ(name_of(*find_pipeline_model(word)), word);
  }
  for (const char* word : {"optimal", "feasible", "infeasible", "limit"}) {
    ASSERT_TRUE(find_plan_status(word));
    EXPECT_EQ(name_of(*find_plan_status(word)), word);
  }
  EXPECT_EQ(find_schedule("1F1B"), std::nullopt);
  EXPECT_EQ(find_pipeline_model(""), std::nullopt);
  EXPECT_EQ(find_plan_status("invalid"), std::nullopt);
}

// tensor 2, expert 4 with expert tensor 1: cells of lcm(2, 4) = 4 run two micro-batches side by side, so
// Megatron's data 8 are four copies.
TEST(Plan, DegreesOfAnExpertPlan) {
  Parallelism p;
  p.strategy = {.tensor = 2, .expert = 4, .expert_tensor = 1};
  p.data = 8;
  p.data_inner = 2;
  p.pipeline = 3;
  EXPECT_EQ(p.strategy.side(), 2);
  EXPECT_EQ(p.copies(), 4);
  EXPECT_EQ(p.outer(), 2);
  EXPECT_EQ(p.devices(), 4 * 4 * 3);
}

TEST(Plan, PartsAddUp) {
  StageTime time;
  time.forward = Seconds{1};
  time.backward = Seconds{2};
  time.recompute = Seconds{4};
  time.tensor = Seconds{8};
  time.expert = Seconds{16};
  time.context = Seconds{32};
  time.pipeline = Seconds{64};
  time.zero = Seconds{128};
  EXPECT_EQ(time.total().value, 255);
  Breakdown b;
  double bit = 1;
  for (Seconds* part : {&b.compute, &b.recompute, &b.tensor, &b.expert, &b.context, &b.pipeline, &b.bubble,
                        &b.data, &b.zero, &b.optimizer}) {
    part->value = bit;
    bit *= 2;
  }
  EXPECT_EQ(b.total().value, 1023);
}

TEST(Plan, MemoryFitsUpToTheLastByte) {
  StageMemory m;
  m.weights = Bytes{1};
  m.gradients = Bytes{2};
  m.optimizer = Bytes{4};
  m.activations = Bytes{8};
  m.workspace = Bytes{16};
  m.reserve = Bytes{32};
  m.fragmentation = Bytes{64};
  EXPECT_EQ(m.allocated(), Bytes{31});
  m.capacity = Bytes{127};
  EXPECT_TRUE(m.fits());
  m.capacity = Bytes{126};
  EXPECT_FALSE(m.fits());
}

TEST(Plan, IsPlacedWhereItsFirstStageHasDevices) {
  Plan plan;
  EXPECT_FALSE(plan.placed());
  plan.stages.emplace_back();
  EXPECT_FALSE(plan.placed());
  plan.stages[0].devices = {{DeviceId{0}}};
  EXPECT_TRUE(plan.placed());
}

}  // namespace
}  // namespace nest::plan
