#include "nest/plan/text/spell_plan.hpp"

#include <gtest/gtest.h>

#include "nest/plan/text/plan_keys.hpp"

namespace nest::plan {
namespace {

TEST(SpellPlan, SaysWhatIsTrained) {
  Tuning tuning;
  EXPECT_EQ(spell_tuning(tuning), "");
  EXPECT_EQ(read_freeze("embedding,router", tuning), "");
  EXPECT_EQ(spell_tuning(tuning), "trained: all without embedding,router");
  EXPECT_EQ(read_train("lora:16", tuning), "");
  tuning.freeze.clear();
  tuning.frozen_bits = 4;
  EXPECT_EQ(spell_tuning(tuning), "trained: lora:16; frozen weights in 4 bits");
}

TEST(SpellPlan, SaysWhatAStepTrains) {
  Training training;
  training.global_batch = 1024;
  training.sequence = 8192;
  EXPECT_EQ(spell_training(training), "global batch 1,024 of 8,192 tokens; bf16, adam");
  training.states = {.moments = StateDType::bf16, .master_weights = false};
  EXPECT_EQ(spell_training(training),
            "global batch 1,024 of 8,192 tokens; bf16, adam, optimizer states bf16, no master weights");
  training.states = {};
  EXPECT_EQ(read_train("lora:16", training.tuning), "");
  EXPECT_EQ(spell_training(training), "global batch 1,024 of 8,192 tokens; bf16, adam; trained: lora:16");
}

TEST(SpellPlan, NamesTheDegreesThatCount) {
  Plan plan;
  EXPECT_EQ(spell_degrees(plan), "pipeline 1, data 1, ZeRO 0");
  plan.parallelism.strategy = {.tensor = 4, .sequence_parallel = true};
  plan.parallelism.pipeline = 8;
  plan.parallelism.data = 32;
  plan.parallelism.zero = 1;
  EXPECT_EQ(spell_degrees(plan), "tensor 4, sequence parallel, pipeline 8 (1f1b), data 32, ZeRO 1");
  plan.parallelism.schedule = Schedule::interleaved;
  plan.parallelism.interleave = 2;
  EXPECT_EQ(spell_degrees(plan),
            "tensor 4, sequence parallel, pipeline 8 (interleaved, 2 chunks), data 32, ZeRO 1");
}

TEST(SpellPlan, CountsStagesOfEachRecomputation) {
  std::vector<Stage> stages(3);
  EXPECT_EQ(spell_recompute({}), "none");
  EXPECT_EQ(spell_recompute(stages), "none");
  stages[1].recompute = {RecomputePolicy::full, 2};
  EXPECT_EQ(spell_recompute(stages), "none (2 stages), full on 2 layers (1 stage)");
}

TEST(SpellPlan, TermsLoseTheirUnit) {
  EXPECT_EQ(spell_term(kBreakdownKeys.front().key), "compute");
}

}  // namespace
}  // namespace nest::plan
