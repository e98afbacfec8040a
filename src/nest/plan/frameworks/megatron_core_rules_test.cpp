#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "nest/plan/frameworks/test_rules.hpp"

namespace nest::plan {
namespace {

using test::broken;

// What Megatron-LM refuses is refused by each framework that is built on it, under the same name.
TEST(MegatronCoreRules, AreMegatronLmsRules) {
  PlanDegrees d;
  d.parallelism.strategy = {.tensor = 2, .sequence_parallel = false, .expert = 4};
  d.parallelism.data = 4;
  for (const char* name : {"megatron", "megatron-bridge", "ms-swift", "verl"}) {
    EXPECT_EQ(broken(name, d), "experts-need-sequence-parallel") << name;
    const FrameworkRules& rules = *find_framework_rules(name);
    EXPECT_EQ(rules.schedules, find_framework_rules("megatron")->schedules) << name;
    EXPECT_TRUE(rules.whole_chunks && rules.one_decoder && rules.same_recompute) << name;
  }
}

TEST(MegatronCoreRules, RulesOfReleasesAreThoseOfTheCore) {
  const auto has = [](std::string_view name) {
    const std::vector<InputRule>& rules = find_framework_rules(name)->input_rules;
    return std::any_of(rules.begin(), rules.end(),
                       [](const InputRule& rule) { return rule.name == "no-t5-and-bert"; });
  };
  EXPECT_TRUE(has("megatron-bridge@v0.6"));  // of core_v0.19
  EXPECT_FALSE(has("verl"));                 // of core_v0.15
}

TEST(MegatronCoreRules, HybridContextNeedsGroupsOfItsOwn) {
  PlanDegrees d;
  d.training.sequence = 4096;
  d.parallelism.strategy = {.context = 4, .context_method = ContextMethod::hybrid, .context_inner = 2};
  EXPECT_EQ(broken("megatron", d), "");
  EXPECT_EQ(broken("megatron-bridge", d), "");
  EXPECT_EQ(broken("ms-swift", d), "no-hybrid-context");
  EXPECT_EQ(broken("verl", d), "no-hybrid-context");
  EXPECT_EQ(broken("deepspeed", d), "context-by-heads");
  d.parallelism.zero = 3;
  EXPECT_EQ(broken("torchtitan", d), "context-by-ring");
  EXPECT_EQ(broken("maxtext", d), "context-by-ring");
  EXPECT_EQ(broken("accelerate", d), "no-hybrid-context");
}

TEST(MegatronCoreRules, OptimizersAreShardedWhole) {
  PlanDegrees d;
  d.parallelism.data = 8;
  d.parallelism.zero = 1;
  d.parallelism.zero_shards = 4;
  EXPECT_EQ(broken("megatron-bridge", d), "");
  EXPECT_EQ(broken("ms-swift", d), "one-optimizer");
  EXPECT_EQ(broken("verl", d), "one-optimizer");
  d.parallelism.zero_shards = 8;
  EXPECT_EQ(broken("ms-swift", d), "");
  EXPECT_EQ(broken("verl", d), "");
}

TEST(MegatronCoreRules, VerlHasNeitherFsdpNorFp8) {
  PlanDegrees d;
  d.parallelism.data = 8;
  d.parallelism.zero = 3;
  EXPECT_EQ(broken("verl", d), "no-fsdp");
  EXPECT_EQ(broken("ms-swift", d), "");
  d.parallelism.zero = 0;
  d.training.precision = Precision::fp8;
  EXPECT_EQ(broken("verl", d), "no-fp8");
  EXPECT_EQ(broken("megatron-bridge", d), "");
}

}  // namespace
}  // namespace nest::plan
