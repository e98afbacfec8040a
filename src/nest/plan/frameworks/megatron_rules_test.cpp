#include <gtest/gtest.h>

#include "nest/plan/frameworks/test_rules.hpp"

namespace nest::plan {
namespace {

using test::broken;

TEST(MegatronRules, MegatronShardsAdamOnly) {
  PlanDegrees d;
  d.training.optimizer = Optimizer::sgd;
  EXPECT_EQ(broken("megatron", d), "");
  d.parallelism.zero = 1;
  EXPECT_EQ(broken("megatron", d), "zero-needs-adam");
  d.training.optimizer = Optimizer::adam;
  EXPECT_EQ(broken("megatron", d), "");
}

// Whole matrices belong to ranks: gradients and parameters stay where they are.
TEST(MegatronRules, MuonsMatricesAreDealtOut) {
  PlanDegrees d;
  d.training.optimizer = Optimizer::muon;
  d.parallelism.data = 8;
  EXPECT_EQ(broken("megatron", d), "");
  d.parallelism.zero = 1;
  EXPECT_EQ(broken("megatron", d), "");
  EXPECT_EQ(broken("ms-swift", d), "");
  d.parallelism.zero_shards = 4;
  EXPECT_EQ(broken("megatron", d), "muon-by-matrices");
  d.parallelism.zero_shards = 0;
  d.parallelism.zero = 2;
  EXPECT_EQ(broken("megatron", d), "muon-by-matrices");
  d.parallelism.zero = 0;
  EXPECT_EQ(broken("maxtext", d), "");
}

TEST(MegatronRules, MegatronWantsSequenceParallelismBesideExperts) {
  PlanDegrees d;
  d.parallelism.strategy = {.tensor = 2, .sequence_parallel = false, .expert = 4};
  d.parallelism.data = 4;
  EXPECT_EQ(broken("megatron", d), "experts-need-sequence-parallel");
  d.parallelism.strategy.sequence_parallel = true;
  EXPECT_EQ(broken("megatron", d), "");
  d.parallelism.strategy = {.tensor = 1, .expert = 4};
  EXPECT_EQ(broken("megatron", d), "");
  d.parallelism.strategy = {.tensor = 2, .sequence_parallel = false};
  EXPECT_EQ(broken("megatron", d), "");
}

TEST(MegatronRules, MegatronInterleavesInWholeRounds) {
  PlanDegrees d;
  d.parallelism.schedule = Schedule::interleaved;
  d.parallelism.interleave = 2;
  d.parallelism.pipeline = 4;
  d.training.micro_batches = 8;
  EXPECT_EQ(broken("megatron", d), "");
  d.training.micro_batches = 6;
  EXPECT_EQ(broken("megatron", d), "interleaving-in-rounds");
  d.parallelism.pipeline = 1;
  EXPECT_EQ(broken("megatron", d), "interleaving-in-rounds");
}

TEST(MegatronRules, MegatronCutsSequencesIntoHalves) {
  PlanDegrees d;
  d.training.sequence = 4096;
  d.parallelism.strategy.context = 4;
  EXPECT_EQ(broken("megatron", d), "");
  d.training.sequence = 4100;
  EXPECT_EQ(broken("megatron", d), "sequence-in-halves");
  d.parallelism.zero = 3;
  EXPECT_EQ(broken("torchtitan", d), "sequence-in-halves");
}

// 12 ranks in optimizers of 4: 3 of them, which the 4 ranks of an expert do not split into.
TEST(MegatronRules, MegatronShardsExpertsAsTheRest) {
  PlanDegrees d;
  Parallelism& p = d.parallelism;
  p.strategy = {.tensor = 1, .expert = 3};
  p.data = 12;
  p.zero = 1;
  p.zero_shards = 4;
  EXPECT_EQ(optimizer_instances(p), 3);
  EXPECT_EQ(broken("megatron", d), "shards-divide-experts");
  p.zero_shards = 6;
  EXPECT_EQ(broken("megatron", d), "");
  p.zero_shards = 5;
  EXPECT_EQ(broken("megatron", d), "shards-divide-ranks");
}

TEST(MegatronRules, MegatronRecomputesNumbersOfLayersOfChunks) {
  const FrameworkRules& megatron = *find_framework_rules("megatron");
  EXPECT_TRUE(megatron.allows_part(1));
  EXPECT_FALSE(megatron.allows_part(2));
  EXPECT_FALSE(find_framework_rules("torchtitan")->allows_part(1));
  EXPECT_FALSE(find_framework_rules("deepspeed")->has(RecomputePolicy::selective));
  EXPECT_TRUE(megatron.has(RecomputePolicy::selective));
  EXPECT_FALSE(megatron.has(Schedule::zb_h1));
  EXPECT_FALSE(megatron.has(Schedule::zb_v));
  EXPECT_TRUE(find_framework_rules("torchtitan")->has(Schedule::zb_h1));
}

}  // namespace
}  // namespace nest::plan
