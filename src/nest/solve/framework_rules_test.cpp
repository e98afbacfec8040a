#include "nest/solve/framework_rules.hpp"

#include <gtest/gtest.h>

namespace nest {
namespace {

std::string_view broken(std::string_view framework, const PlanDegrees& degrees) {
  const FrameworkRule* rule = find_framework_rules(framework)->broken(degrees);
  return rule == nullptr ? "" : rule->name;
}

TEST(FrameworkRules, AreFoundByName) {
  EXPECT_EQ(find_framework_rules("megatron")->title, "Megatron-LM");
  EXPECT_EQ(find_framework_rules("Megatron"), nullptr);
  EXPECT_EQ(all_framework_rules().size(), 3U);
}

TEST(FrameworkRules, EveryRuleIsASentenceWithAName) {
  for (const FrameworkRules& framework : all_framework_rules()) {
    EXPECT_FALSE(framework.schedules.empty()) << framework.name;
    for (const FrameworkRule& rule : framework.rules) {
      EXPECT_FALSE(rule.name.empty());
      EXPECT_NE(rule.sentence.find(framework.title), std::string_view::npos) << rule.name;
      EXPECT_NE(rule.sentence.back(), '.') << rule.name;
    }
  }
}

TEST(FrameworkRules, ASimplePlanRunsEverywhere) {
  PlanDegrees d;
  d.training.micro_batches = 8;
  d.parallelism.pipeline = 4;
  d.parallelism.data = 2;
  for (const FrameworkRules& framework : all_framework_rules())
    EXPECT_EQ(framework.broken(d), nullptr) << framework.name;
}

TEST(FrameworkRules, MegatronWantsSequenceParallelismBesideExperts) {
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

TEST(FrameworkRules, MegatronInterleavesInWholeRounds) {
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

TEST(FrameworkRules, TorchtitanHasFsdpOnly) {
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
TEST(FrameworkRules, TorchtitanPutsExpertsOnShards) {
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

TEST(FrameworkRules, DeepSpeedsPipelineHasNoZero2) {
  PlanDegrees d;
  d.parallelism.data = 4;
  d.parallelism.zero = 2;
  EXPECT_EQ(broken("deepspeed", d), "");
  d.parallelism.pipeline = 2;
  EXPECT_EQ(broken("deepspeed", d), "zero-with-pipeline");
  d.parallelism.zero = 1;
  EXPECT_EQ(broken("deepspeed", d), "");
}

TEST(FrameworkRules, DeepSpeedShardsOverAPartWithZero3Only) {
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

TEST(FrameworkRules, DeepSpeedsContextIsUlysses) {
  PlanDegrees d;
  d.parallelism.strategy.context = 2;
  EXPECT_EQ(broken("deepspeed", d), "context-by-heads");
  d.parallelism.strategy.context_method = ContextMethod::all_to_all;
  EXPECT_EQ(broken("deepspeed", d), "");
}

}  // namespace
}  // namespace nest
