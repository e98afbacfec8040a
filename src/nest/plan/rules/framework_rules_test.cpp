#include "nest/plan/rules/framework_rules.hpp"

#include <gtest/gtest.h>

#include "nest/plan/inputs.hpp"

namespace nest::plan {
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

TEST(FrameworkRules, MegatronShardsAdamOnly) {
  PlanDegrees d;
  d.training.optimizer = Optimizer::sgd;
  EXPECT_EQ(broken("megatron", d), "");
  d.parallelism.zero = 1;
  EXPECT_EQ(broken("megatron", d), "zero-needs-adam");
  d.training.optimizer = Optimizer::adam;
  EXPECT_EQ(broken("megatron", d), "");
}

TEST(FrameworkRules, ASimplePlanRunsEverywhere) {
  PlanDegrees d;
  d.training.micro_batches = 8;
  d.parallelism.data = 8;
  for (const FrameworkRules& framework : all_framework_rules())
    EXPECT_EQ(framework.broken(d), nullptr) << framework.name;
}

// 0.2.2 knows replicas alone, and casts to bf16 in FSDP only.
TEST(FrameworkRules, Torchtitan022WantsShardsBesideOthers) {
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

TEST(FrameworkRules, MegatronCutsSequencesIntoHalves) {
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
TEST(FrameworkRules, MegatronShardsExpertsAsTheRest) {
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

TEST(FrameworkRules, MegatronRecomputesNumbersOfLayersOfChunks) {
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

TEST(FrameworkRules, TorchtitanTrainsWithAdamInBf16AndFp8) {
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

TEST(FrameworkRules, TorchtitansContextRanksAreShards) {
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
TEST(FrameworkRules, TorchtitanIsTwo) {
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

TEST(FrameworkRules, DeepSpeedsTensorParallelismIsPlain) {
  PlanDegrees d;
  d.parallelism.strategy = {.tensor = 2, .sequence_parallel = true};
  EXPECT_EQ(broken("deepspeed", d), "tensor-without-sequence-parallel");
  d.parallelism.strategy.sequence_parallel = false;
  EXPECT_EQ(broken("deepspeed", d), "");
  d.parallelism.zero = 3;
  EXPECT_EQ(broken("deepspeed", d), "tensor-with-zero");
}

TEST(FrameworkRules, DeepSpeedsExpertsAreDataRanks) {
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

TEST(FrameworkRules, DeepSpeedsPipelineHasNoContextRanks) {
  PlanDegrees d;
  d.parallelism.strategy = {.context = 2, .context_method = ContextMethod::all_to_all};
  d.parallelism.pipeline = 2;
  EXPECT_EQ(broken("deepspeed", d), "context-without-pipeline");
}

TEST(FrameworkRules, DeepSpeedsContextIsUlysses) {
  PlanDegrees d;
  d.parallelism.strategy.context = 2;
  EXPECT_EQ(broken("deepspeed", d), "context-by-heads");
  d.parallelism.strategy.context_method = ContextMethod::all_to_all;
  EXPECT_EQ(broken("deepspeed", d), "");
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
