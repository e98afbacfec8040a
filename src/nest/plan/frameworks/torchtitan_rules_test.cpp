#include <gtest/gtest.h>

#include "nest/plan/frameworks/test_rules.hpp"

namespace nest::plan {
namespace {

using test::broken;

// 0.2.2 knows replicas alone, and casts to bf16 in FSDP only.
TEST(TorchtitanRules, Torchtitan022WantsShardsBesideOthers) {
  PlanDegrees d;
  d.training.micro_batches = 8;
  d.parallelism.pipeline = 4;
  d.parallelism.data = 2;
  EXPECT_EQ(broken("torchtitan", d), "replicas-alone");
  EXPECT_EQ(broken("torchtitan@v0.2.2", d), "replicas-alone");
  EXPECT_EQ(broken("torchtitan@main", d), "");
  d.parallelism.zero = 3;
  d.parallelism.zero_shards = 2;
  EXPECT_EQ(broken("torchtitan", d), "");
  d.parallelism.zero_shards = 1;
  EXPECT_EQ(broken("torchtitan", d), "replicas-alone");
}

TEST(TorchtitanRules, TorchtitanTrainsWithAdamInBf16AndFp8) {
  PlanDegrees d;
  d.training.precision = Precision::fp8;
  EXPECT_EQ(broken("torchtitan", d), "");
  EXPECT_EQ(broken("deepspeed", d), "no-fp8");
  d.training.precision = Precision::fp16;
  EXPECT_EQ(broken("torchtitan", d), "no-fp16");
  EXPECT_EQ(broken("deepspeed", d), "");
  d.training = {};
  d.training.optimizer = Optimizer::sgd;
  EXPECT_EQ(broken("torchtitan", d), "adam-only");
}

TEST(TorchtitanRules, TorchtitansContextRanksAreShards) {
  PlanDegrees d;
  Parallelism& p = d.parallelism;
  d.training.sequence = 4096;
  p.strategy.context = 2;
  p.data = 4;
  EXPECT_EQ(broken("torchtitan", d), "context-is-sharded");
  p.zero = 3;
  EXPECT_EQ(broken("torchtitan", d), "");
  p.zero_shards = 1;
  EXPECT_EQ(broken("torchtitan", d), "context-is-sharded");
  p.zero_shards = 4;
  p.strategy.context_method = ContextMethod::all_to_all;
  EXPECT_EQ(broken("torchtitan", d), "context-by-ring");
}

// The release wants sequence parallelism, the main branch has no expert tensor degree.
TEST(TorchtitanRules, TorchtitanIsTwo) {
  Parallelism p;
  p.strategy = {.tensor = 2, .sequence_parallel = false};
  EXPECT_FALSE(runs_in_titan_022(p));
  EXPECT_TRUE(runs_in_titan_main(p));
  p.strategy = {.tensor = 2, .sequence_parallel = true, .expert = 2, .expert_tensor = 2};
  p.data = 2;
  p.zero = 3;
  EXPECT_TRUE(runs_in_titan_022(p));
  EXPECT_FALSE(runs_in_titan_main(p));
}

// Exchanges with experts hide in the release's pairs alone, and stages recompute nothing then.
TEST(TorchtitanRules, TorchtitanHidesExchangesInPairs) {
  PlanDegrees d;
  d.training.micro_batches = 8;
  Parallelism& p = d.parallelism;
  p.pipeline = 2;
  p.data = 2;
  p.zero = 3;
  p.interleave = 2;
  p.schedule = Schedule::dualpipe_v;
  p.strategy = {.expert = 2, .expert_tensor = 1, .expert_overlap = true};
  EXPECT_EQ(broken("torchtitan", d), "");
  EXPECT_EQ(broken("torchtitan@main", d), "no-overlap");
  const FrameworkRules& rules = *find_framework_rules("torchtitan");
  EXPECT_TRUE(rules.allows(p, {RecomputePolicy::none, 0}));
  EXPECT_FALSE(rules.allows(p, {RecomputePolicy::selective, 0}));
  EXPECT_TRUE(find_framework_rules("megatron")->allows(p, {RecomputePolicy::selective, 0}));
  EXPECT_FALSE(
      find_framework_rules("megatron")->allows(p, {RecomputePolicy::full, 2}));  // of every chunk there
  p.schedule = Schedule::zb_v;
  EXPECT_EQ(broken("torchtitan", d), "overlap-in-pairs");
  EXPECT_TRUE(rules.allows(p, {RecomputePolicy::selective, 0}));
  p.strategy.expert_overlap = false;
  p.schedule = Schedule::dualpipe_v;
  EXPECT_EQ(broken("torchtitan", d), "");
  EXPECT_EQ(broken("torchtitan@main", d), "");
  EXPECT_TRUE(rules.allows(p, {RecomputePolicy::full, 0}));
}

TEST(TorchtitanRules, TorchtitanHasFsdpOnly) {
  PlanDegrees d;
  d.parallelism.data = 8;
  for (const std::int64_t zero : {0, 2, 3}) {
    d.parallelism.zero = zero;
    EXPECT_EQ(broken("torchtitan", d), "") << zero;
  }
  d.parallelism.zero = 1;
  EXPECT_EQ(broken("torchtitan", d), "no-zero-1");
}

// 8 data ranks, tensor 2: experts on shards (x = t), or on shards times tensor ranks (x = 1).
TEST(TorchtitanRules, TorchtitanPutsExpertsOnShards) {
  PlanDegrees d;
  Parallelism& p = d.parallelism;
  p.strategy = {.tensor = 2, .sequence_parallel = true, .expert = 8, .expert_tensor = 2};
  p.data = 8;  // the cell has 16 devices: side 8, one copy
  p.zero = 3;
  EXPECT_EQ(broken("torchtitan", d), "");
  p.zero_shards = 4;
  EXPECT_EQ(broken("torchtitan", d), "experts-in-shards");
  p.strategy.expert_tensor = 1;  // 4 shards x 2 tensor ranks
  EXPECT_EQ(broken("torchtitan", d), "");
  p.zero_shards = 2;
  EXPECT_EQ(broken("torchtitan", d), "experts-in-shards");
  p.strategy = {.tensor = 4, .sequence_parallel = true, .expert = 2, .expert_tensor = 2};
  EXPECT_EQ(broken("torchtitan", d), "expert-tensor");
}

}  // namespace
}  // namespace nest::plan
