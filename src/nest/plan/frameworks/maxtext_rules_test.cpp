#include <gtest/gtest.h>

#include "nest/plan/frameworks/test_rules.hpp"

namespace nest::plan {
namespace {

using test::broken;

TEST(MaxTextRules, ZeRO2IsNotThere) {
  PlanDegrees d;
  d.parallelism.data = 8;
  for (const std::int64_t zero : {0, 1, 3}) {
    d.parallelism.zero = zero;
    EXPECT_EQ(broken("maxtext", d), "") << zero;
  }
  d.parallelism.zero = 2;
  EXPECT_EQ(broken("maxtext", d), "no-zero-2");
  d.parallelism.zero = 1;
  d.parallelism.zero_shards = 4;
  EXPECT_EQ(broken("maxtext", d), "zero-1-whole");
  d.training.precision = Precision::fp16;
  EXPECT_EQ(broken("maxtext", d), "no-fp16");
}

TEST(MaxTextRules, ThePipelineIsGpipeInRounds) {
  PlanDegrees d;
  d.parallelism.pipeline = 4;
  d.training.micro_batches = 8;
  EXPECT_EQ(broken("maxtext", d), "pipeline-by-gpipe");
  d.parallelism.schedule = Schedule::gpipe;
  EXPECT_EQ(broken("maxtext", d), "");
  d.training.micro_batches = 6;
  EXPECT_EQ(broken("maxtext", d), "micro-batches-in-rounds");
}

TEST(MaxTextRules, ContextRanksHoldPartsOfTheWeights) {
  PlanDegrees d;
  d.training.sequence = 64;
  d.parallelism.strategy = {.context = 2};
  EXPECT_EQ(broken("maxtext", d), "context-is-sharded");
  d.parallelism.zero = 3;
  EXPECT_EQ(broken("maxtext", d), "");
  d.parallelism.strategy.context_method = ContextMethod::all_to_all;
  EXPECT_EQ(broken("maxtext", d), "context-by-ring");
  d.parallelism.strategy.context_method = ContextMethod::ring;
  d.training.sequence = 62;
  EXPECT_EQ(broken("maxtext", d), "sequence-in-halves");
}

TEST(MaxTextRules, ExpertRanksAreDataRanks) {
  PlanDegrees d;
  d.parallelism.strategy = {.tensor = 2, .expert = 4};
  d.parallelism.data = 8;
  EXPECT_EQ(broken("maxtext", d), "experts-on-data-ranks");
  d.parallelism.zero = 3;
  EXPECT_EQ(broken("maxtext", d), "");
  d.parallelism.zero_shards = 2;
  EXPECT_EQ(broken("maxtext", d), "experts-on-data-ranks");
  d.parallelism.strategy.expert_tensor = 1;
  EXPECT_EQ(broken("maxtext", d), "expert-tensor");
}

// A sequence over 3 devices is no number with a point; one over 4 is 0.25.
TEST(MaxTextRules, SequencesPerDeviceAreExact) {
  PlanDegrees d;
  d.parallelism.strategy = {.tensor = 3};
  EXPECT_EQ(broken("maxtext", d), "exact-batch");
  d.training.micro_batch = 3;
  EXPECT_EQ(broken("maxtext", d), "");
  d.training.micro_batch = 1;
  d.parallelism.strategy.tensor = 4;
  EXPECT_EQ(broken("maxtext", d), "");
}

}  // namespace
}  // namespace nest::plan
