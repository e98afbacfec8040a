#include "nest/frameworks/common/export_rule.hpp"

#include <gtest/gtest.h>

#include <set>

#include "nest/frameworks/deepspeed/deepspeed.hpp"
#include "nest/frameworks/megatron/megatron_args.hpp"
#include "nest/frameworks/test_exports.hpp"
#include "nest/frameworks/torchtitan/torchtitan.hpp"

namespace nest::frameworks {
namespace {

ModelSpec& spec_of(ExportQuestion& q) {
  return std::get<ModelSpec>(q.inputs.source);
}

// Of the tables of single targets: one plan that breaks each rule, and no other before it.
std::vector<test::Breach> shape_breaches() {
  return {
      {"batch", [](ExportQuestion& q) { q.plan.training.micro_batches = 7; }},
      {"heads", [](ExportQuestion& q) { spec_of(q).stacks[0].blocks[0].attention.heads = 31; }},
      {"query-groups", [](ExportQuestion& q) { spec_of(q).stacks[0].blocks[0].attention.kv_heads = 3; }},
      {"ffn", [](ExportQuestion& q) { spec_of(q).stacks[0].blocks[5].ffn.ffn = 14337; }},
      {"sequence", [](ExportQuestion& q) { q.plan.training.sequence = 2049; }},
      {"tied-weights", [](ExportQuestion& q) { spec_of(q).head.tied = true; }},
  };
}

std::string rule_of(std::string_view target, const ExportQuestion& question) {
  const test::Exported out = test::exported(target, question);
  EXPECT_EQ(out.result.rule.empty(), !out.files.empty()) << out.result.rule;
  return out.result.rule;
}

ExportQuestion dense(std::string_view target) {
  static test::Planner planner("llama3.1-8b");
  const bool sequence_parallel = target != "deepspeed";
  Plan plan = test::degrees({.tensor = 2, .sequence_parallel = sequence_parallel}, 2, 4);
  plan.parallelism.zero = target == "torchtitan" ? 3 : 0;
  ExportQuestion q = planner.question(plan);
  if (target == "deepspeed") {  // so that the sequence is split here too
    q = planner.question(
        test::degrees({.tensor = 2, .context = 2, .context_method = ContextMethod::all_to_all}, 1, 4));
  }
  return q;
}

ExportQuestion experts(std::string_view target) {
  static test::Planner planner("mixtral-8x7b");
  Plan plan = test::degrees({.tensor = 1, .expert = 2}, 2, 4);
  plan.parallelism.zero = target == "torchtitan" ? 3 : 0;
  return planner.question(plan);
}

// What is written states as many positions as there are tokens; a file that was read may not.
TEST(ExportRules, PositionsAreARuleOfLaunchFilesAlone) {
  ExportQuestion q = dense("megatron");
  spec_of(q).positions = 2047;
  EXPECT_EQ(rule_of("megatron", q), "");
  const auto broken = first_broken(export_facts(q, "megatron"), "megatron", megatron_launch_rules());
  ASSERT_TRUE(broken.has_value());
  EXPECT_EQ(broken->name, "positions");
}

TEST(ExportRules, EveryRuleOfEveryTargetRefusesAPlan) {
  const std::vector<std::pair<std::string_view, std::span<const ExportRule>>> targets{
      {"megatron", megatron_rules()}, {"torchtitan", torchtitan_rules()}, {"deepspeed", deepspeed_rules()}};
  for (const auto& [target, rules] : targets) {
    std::set<std::string> names;
    for (const ExportRule& rule : rules) EXPECT_TRUE(names.insert(std::string(rule.name)).second);
    EXPECT_EQ(rule_of(target, dense(target)), "") << target;
    for (const test::Breach& breach : shape_breaches()) {
      if (!names.erase(breach.rule)) continue;
      ExportQuestion q = dense(target);
      breach.make(q);
      if (breach.rule == "sequence" && target == "megatron") q.plan.training.sequence = 2049;
      EXPECT_EQ(rule_of(target, q), breach.rule) << target;
    }
    ExportQuestion q = experts(target);
    spec_of(q).stacks[0].blocks[0].experts->experts = 7;
    if (names.erase("experts") > 0) {
      EXPECT_EQ(rule_of(target, q), "experts") << target;
    }
    q = experts(target);
    q.plan.parallelism.data = 5;
    q.plan.training.global_batch = 40;
    if (names.erase("world") > 0) {
      EXPECT_EQ(rule_of(target, q), "world") << target;
    }
    test::Planner whisper("whisper-tiny");
    Plan plan = test::degrees({}, 2, 4);
    plan.training.sequence = 448;
    plan.parallelism.zero = target == "torchtitan" ? 3 : 0;
    if (names.erase("one-decoder") > 0) {
      EXPECT_EQ(rule_of(target, whisper.question(plan)), "one-decoder") << target;
    }
    if (names.erase("experts-need-sequence-parallel") > 0) {
      test::Planner mixtral("mixtral-8x7b");
      EXPECT_EQ(rule_of(target, mixtral.question(test::degrees({.tensor = 2}, 1, 4))),
                "experts-need-sequence-parallel");
    }
    if (target == "torchtitan" && names.erase("mesh") > 0) {
      q = dense(target);
      q.plan.parallelism.zero_shards = 3;
      EXPECT_EQ(rule_of(target, q), "mesh");
    }
    if (target == "deepspeed" && names.erase("context-heads") > 0) {
      q = dense(target);
      spec_of(q).stacks[0].blocks[0].attention.heads = 30;
      EXPECT_EQ(rule_of(target, q), "context-heads");
    }
    EXPECT_TRUE(names.empty()) << target << " has a rule without a test: " << *names.begin();
  }
}

TEST(ExportRules, OfStages) {
  const std::vector<test::Breach> breaches{
      {"one-strategy", [](ExportQuestion& q) { q.plan.stages[1].strategy.sequence_parallel = false; }},
      {"one-recomputation",
       [](ExportQuestion& q) { q.plan.stages[1].recompute.policy = RecomputePolicy::full; }},
      {"layers-in-order",
       [](ExportQuestion& q) { std::swap(q.plan.stages[0].layers, q.plan.stages[1].layers); }},
      {"schedule", [](ExportQuestion& q) { q.plan.parallelism.schedule = Schedule::gpipe; }},
      {"experts-need-sequence-parallel",
       [](ExportQuestion& q) {
         q.plan.parallelism.strategy.expert = 2;
         q.plan.parallelism.strategy.sequence_parallel = false;
       }},
  };
  for (const test::Breach& breach : breaches) {
    ExportQuestion q = dense("megatron");
    breach.make(q);
    EXPECT_EQ(rule_of("megatron", q), breach.rule);
  }
  for (const ExportRule& rule : stage_rules()) {
    EXPECT_TRUE(
        std::any_of(breaches.begin(), breaches.end(), [&](const auto& b) { return b.rule == rule.name; }));
  }
}

TEST(ExportRules, OfRecomputation) {
  ExportQuestion q = dense("deepspeed");
  for (Stage& stage : q.plan.stages) stage.recompute = {RecomputePolicy::selective, 0};
  EXPECT_EQ(rule_of("deepspeed", q), "recomputation");
  q = dense("torchtitan");
  for (Stage& stage : q.plan.stages) stage.recompute = {RecomputePolicy::full, 2};
  EXPECT_EQ(rule_of("torchtitan", q), "whole-recomputation");
  EXPECT_EQ(rule_of("megatron", q), "");
  test::Planner planner("llama3.1-8b");
  Plan plan = test::degrees({}, 2, 4);
  plan.parallelism.interleave = 2;
  plan.parallelism.schedule = Schedule::interleaved;
  plan.default_recompute = {RecomputePolicy::full, 2};
  q = planner.question(plan);
  EXPECT_EQ(rule_of("megatron", q), "whole-recomputation");
  EXPECT_EQ(test::exported("megatron", q).result.sentence,
            "Megatron-LM recomputes a number of layers of every chunk, not of a stage: full on 2 layers with "
            "2 chunks");
}

TEST(ExportRules, SentencesHaveThePlansFigures) {
  ExportQuestion q = dense("megatron");
  spec_of(q).stacks[0].blocks[0].attention.heads = 31;
  EXPECT_EQ(test::exported("megatron", q).result.sentence,
            "Megatron-LM splits attention heads evenly over tensor ranks: 31 heads, tensor 2");
}

}  // namespace
}  // namespace nest::frameworks
