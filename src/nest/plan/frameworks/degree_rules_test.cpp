#include "nest/plan/frameworks/degree_rules.hpp"

#include <gtest/gtest.h>

namespace nest::plan {
namespace {

// 8 data ranks with 2 context ranks each hold the same parameters; ZeRO over half of them makes two optimizers.
TEST(DegreeRules, ShardsAreRanksOfTheDenseGroup) {
  Parallelism p;
  p.data = 8;
  p.strategy.context = 2;
  p.strategy.tensor = 2;
  EXPECT_EQ(dense_group(p), 16);
  EXPECT_EQ(shards(p), 1);
  EXPECT_EQ(instances(p), 1);
  p.zero = 1;
  EXPECT_EQ(shards(p), 16);
  p.zero_shards = 8;
  EXPECT_EQ(shards(p), 8);
  EXPECT_EQ(instances(p), 2);
}

TEST(DegreeRules, HalvesAreAskedOfContextRanksOnly) {
  PlanDegrees d;
  d.training.sequence = 12;
  EXPECT_TRUE(sequence_in_halves(d));
  d.parallelism.strategy.context = 4;
  EXPECT_FALSE(sequence_in_halves(d));
  d.training.sequence = 16;
  EXPECT_TRUE(sequence_in_halves(d));
}

TEST(DegreeRules, ATpuIsNoGpu) {
  Warnings warnings;
  EXPECT_TRUE(on_gpus(load_inputs("llama2-7b", "h100-spine-leaf", "plain", warnings), {}));
  EXPECT_FALSE(on_gpus(load_inputs("llama2-7b", "tpu-v5e-64", "plain", warnings), {}));
}

}  // namespace
}  // namespace nest::plan
