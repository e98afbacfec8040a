#include <gtest/gtest.h>

#include "nest/plan/frameworks/test_rules.hpp"

namespace nest::plan {
namespace {

using test::broken;

TEST(DeepSpeedRules, DeepSpeedsPipelineHasNoZero2) {
  PlanDegrees d;
  d.parallelism.data = 4;
  d.parallelism.zero = 2;
  EXPECT_EQ(broken("deepspeed", d), "");
  d.parallelism.pipeline = 2;
  EXPECT_EQ(broken("deepspeed", d), "zero-with-pipeline");
  d.parallelism.zero = 1;
  EXPECT_EQ(broken("deepspeed", d), "");
}

TEST(DeepSpeedRules, DeepSpeedShardsOverAPartWithZero3Only) {
  PlanDegrees d;
  d.parallelism.data = 8;
  d.parallelism.zero = 1;
  d.parallelism.zero_shards = 8;
  EXPECT_EQ(broken("deepspeed", d), "");
  d.parallelism.zero_shards = 4;
  EXPECT_EQ(broken("deepspeed", d), "partial-shards");
  d.parallelism.zero = 3;
  EXPECT_EQ(broken("deepspeed", d), "");
}

TEST(DeepSpeedRules, DeepSpeedsTensorParallelismIsPlain) {
  PlanDegrees d;
  d.parallelism.strategy = {.tensor = 2, .sequence_parallel = true};
  EXPECT_EQ(broken("deepspeed", d), "tensor-without-sequence-parallel");
  d.parallelism.strategy.sequence_parallel = false;
  EXPECT_EQ(broken("deepspeed", d), "");
  d.parallelism.zero = 3;
  EXPECT_EQ(broken("deepspeed", d), "tensor-with-zero");
}

TEST(DeepSpeedRules, DeepSpeedsExpertsAreDataRanks) {
  PlanDegrees d;
  d.parallelism.strategy = {.tensor = 2, .expert = 2};
  d.parallelism.data = 4;
  EXPECT_EQ(broken("deepspeed", d), "");
  d.parallelism.strategy.expert_tensor = 1;
  EXPECT_EQ(broken("deepspeed", d), "experts-on-data-ranks");
  d.parallelism.strategy = {.expert = 2};
  d.parallelism.zero = 3;
  EXPECT_EQ(broken("deepspeed", d), "experts-with-zero");
}

TEST(DeepSpeedRules, DeepSpeedsPipelineHasNoContextRanks) {
  PlanDegrees d;
  d.parallelism.strategy = {.context = 2, .context_method = ContextMethod::all_to_all};
  d.parallelism.pipeline = 2;
  EXPECT_EQ(broken("deepspeed", d), "context-without-pipeline");
}

TEST(DeepSpeedRules, DeepSpeedsContextIsUlysses) {
  PlanDegrees d;
  d.parallelism.strategy.context = 2;
  EXPECT_EQ(broken("deepspeed", d), "context-by-heads");
  d.parallelism.strategy.context_method = ContextMethod::all_to_all;
  EXPECT_EQ(broken("deepspeed", d), "");
}

}  // namespace
}  // namespace nest::plan
