#include "nest/frameworks/maxtext/maxtext_settings.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/test_exports.hpp"

namespace nest::frameworks {
namespace {

using test::degrees;

Value settings_of(const ExportQuestion& question) {
  const ExportFacts facts = export_facts(question, "maxtext");
  return maxtext_settings(facts, maxtext_mesh(facts, make_rank_map(question, RankOrder::data_before_stage)));
}

// A micro-batch of one sequence over 4 tensor ranks is a quarter of a sequence for each device.
TEST(MaxTextSettings, BatchesOfADeviceMayBeParts) {
  test::Planner planner("llama2-7b", "maxtext");
  const Value out = settings_of(planner.question(degrees({.tensor = 4}, 1, 2)));
  EXPECT_EQ(*out.find("per_device_batch_size")->as_real(), 0.25);
  EXPECT_EQ(*out.find("gradient_accumulation_steps")->as_int(), 8);
}

// A pipeline takes the whole batch of a step: 8 micro-batches of one sequence on 4 devices.
TEST(MaxTextSettings, APipelineCutsTheBatchItself) {
  test::Planner planner("llama2-7b", "maxtext");
  Plan plan = degrees({}, 4, 1);
  plan.parallelism.schedule = Schedule::gpipe;
  const Value out = settings_of(planner.question(std::move(plan)));
  EXPECT_EQ(*out.find("per_device_batch_size")->as_int(), 2);
  EXPECT_EQ(*out.find("gradient_accumulation_steps")->as_int(), 1);
  EXPECT_EQ(*out.find("num_pipeline_microbatches")->as_int(), 8);
  EXPECT_EQ(*out.find("num_layers_per_pipeline_stage")->as_int(), 8);
  EXPECT_EQ(out.find("pipeline_parallel_layers"), nullptr);
}

// 32 layers over 5 stages: 6 each, and 2 outside.
TEST(MaxTextSettings, LayersThatDoNotDivideRunOutside) {
  test::Planner planner("llama2-7b", "maxtext");
  Plan plan = degrees({}, 5, 1, 5);
  plan.parallelism.schedule = Schedule::gpipe;
  const Value out = settings_of(planner.question(std::move(plan)));
  EXPECT_EQ(*out.find("num_layers_per_pipeline_stage")->as_int(), 6);
  EXPECT_EQ(*out.find("pipeline_parallel_layers")->as_int(), 30);
}

TEST(MaxTextSettings, WhatIsKept) {
  EXPECT_EQ(remat_policy(RecomputePolicy::full), "full");
  EXPECT_EQ(remat_policy(RecomputePolicy::selective), "minimal");
  EXPECT_EQ(remat_policy(RecomputePolicy::none), "minimal_with_context");
  using enum RecomputeModule;
  EXPECT_EQ(remat_policy({RecomputePolicy::modules, {mlp}}), "save_dot_with_context_except_mlp");
  EXPECT_EQ(remat_policy({RecomputePolicy::modules, {core_attn, mlp}}), "save_dot_except_mlp");
}

TEST(MaxTextSettings, ZeRO1ShardsTheOptimizerOverData) {
  test::Planner planner("llama2-7b", "maxtext");
  Plan plan = degrees({}, 1, 8);
  plan.parallelism.zero = 1;
  const Value out = settings_of(planner.question(std::move(plan)));
  EXPECT_TRUE(*out.find("shard_optimizer_over_data")->as_bool());
  EXPECT_EQ(*out.find("ici_data_parallelism")->as_int(), 8);
  EXPECT_EQ(*out.find("ici_fsdp_parallelism")->as_int(), 1);
}

}  // namespace
}  // namespace nest::frameworks
