#include "nest/plan/frameworks/framework_rules.hpp"

#include <gtest/gtest.h>

#include "nest/plan/frameworks/framework_tables.hpp"
#include "nest/plan/inputs.hpp"

namespace nest::plan {
namespace {

TEST(FrameworkRules, AreFoundByName) {
  EXPECT_EQ(find_framework_rules("megatron")->title, "Megatron-LM");
  EXPECT_EQ(find_framework_rules("Megatron"), nullptr);
  EXPECT_EQ(all_framework_rules().size(), framework_tables().size());
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

TEST(FrameworkRules, EveryRuleOnInputsIsASentenceWithAName) {
  for (const FrameworkRules& framework : all_framework_rules()) {
    for (const InputRule& rule : framework.input_rules) {
      EXPECT_NE(rule.sentence.find(framework.title), std::string_view::npos) << rule.name;
      EXPECT_NE(rule.sentence.back(), '.') << rule.name;
    }
  }
  EXPECT_EQ(find_framework_rules("megatron@core_v0.17")->input_rules.size() + 1,
            find_framework_rules("megatron@core_v0.18")->input_rules.size());
}

TEST(FrameworkRules, ASimplePlanRunsEverywhere) {
  PlanDegrees d;
  d.training.micro_batches = 8;
  d.parallelism.data = 8;
  for (const FrameworkRules& framework : all_framework_rules())
    EXPECT_EQ(framework.broken(d), nullptr) << framework.name;
}

TEST(FrameworkRules, StagesNeedADecoder) {
  Warnings warnings;
  const PlanInputs llama = load_inputs("llama2-7b", "h100-spine-leaf", "megatron", warnings);
  const PlanInputs t5 = load_inputs("t5-11b", "h100-spine-leaf", "megatron", warnings);
  EXPECT_TRUE(find_framework_rules("megatron")->can_cut(llama));
  EXPECT_FALSE(find_framework_rules("megatron")->can_cut(t5));
  EXPECT_FALSE(find_framework_rules("torchtitan")->can_cut(t5));
  // Llama 3.2 1B's head has the embedding's weights, Llama 3.1 8B's has its own.
  const PlanInputs tied = load_inputs("llama3.2-1b", "h100-spine-leaf", "plain", warnings);
  const PlanInputs untied = load_inputs("llama3.1-8b", "h100-spine-leaf", "plain", warnings);
  EXPECT_TRUE(find_framework_rules("megatron")->can_cut(tied));
  EXPECT_EQ(find_framework_rules("torchtitan")->why_uncut(tied), "its head has the embedding's weights");
  EXPECT_TRUE(find_framework_rules("torchtitan")->can_cut(untied));
  EXPECT_TRUE(find_framework_rules("deepspeed")->can_cut(t5));
}

}  // namespace
}  // namespace nest::plan
