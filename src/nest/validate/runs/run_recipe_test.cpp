#include "nest/validate/runs/run_recipe.hpp"

#include <gtest/gtest.h>

#include "nest/validate/runs/test_runs.hpp"

namespace nest::validate {
namespace {

RunRow of(const std::string& framework, const std::string& precision = "bf16") {
  RunRow row = made_up_run();
  row.framework = framework;
  row.precision = precision;
  return row;
}

TEST(RunRecipe, FrameworksOfTheTable) {
  const Recipe megatron = *run_recipe(of("megatron")).recipe;
  EXPECT_EQ(megatron.gradient_dtype, StateDType::fp32);
  EXPECT_EQ(megatron.overlap.gradient_reduce, 1);
  const Recipe bloom = *run_recipe(of("megatron-deepspeed")).recipe;
  EXPECT_EQ(bloom.gradient_dtype, StateDType::fp32);
  EXPECT_EQ(bloom.overlap.gradient_reduce, 0);
  EXPECT_EQ(run_recipe(of("megatron-deepspeed", "fp16")).recipe->gradient_dtype, StateDType::fp16);
  const Recipe internevo = *run_recipe(of("internevo")).recipe;
  EXPECT_EQ(internevo.overlap.parameter_gather, 0);
  EXPECT_EQ(internevo.overlap.gradient_reduce, 1);
  EXPECT_EQ(run_recipe(of("torchtitan")).zero, 3);
}

TEST(RunRecipe, OldMegatronOverlapsNothing) {
  RunRow row = of("megatron", "fp16");
  row.flash = false;
  const RunRecipe old = run_recipe(row);
  EXPECT_EQ(old.recipe->overlap, Overlap{});
  EXPECT_EQ(old.recipe->reduce_dtype, StateDType::fp16);
  EXPECT_EQ(old.zero, 0);
  row.notes = "table 2 (DeepSpeed ZeRO-3)";
  EXPECT_EQ(run_recipe(row).recipe->name, "deepspeed");
}

TEST(RunRecipe, WhatTheRowSays) {
  RunRow row = of("fsdp");
  row.notes = "mp_mode=PURE";
  EXPECT_EQ(run_recipe(row).recipe->reduce_dtype, StateDType::bf16);
  EXPECT_FALSE(run_recipe(row).recipe->compiled);
  row.notes.clear();
  row.compiled = true;
  row.overlap = "none";
  EXPECT_EQ(run_recipe(row).recipe->reduce_dtype, StateDType::fp32);
  EXPECT_TRUE(run_recipe(row).recipe->compiled);
  EXPECT_EQ(run_recipe(row).recipe->overlap, Overlap{});
  EXPECT_EQ(run_recipe(of("megatron", "mxfp8")).recipe->precision, Precision::mxfp8);
  EXPECT_EQ(run_recipe(of("megatron", "nvfp4")).recipe->precision, Precision::nvfp4);
}

TEST(RunRecipe, WhatIsNotKnown) {
  EXPECT_EQ(run_recipe(of("abacus")).why_not, "the framework 'abacus' is not known");
  RunRow odd = of("megatron", "int3");
  odd.precision_class = "other";
  EXPECT_EQ(run_recipe(odd).why_not, "the precision 'int3' is not modelled");
}

}  // namespace
}  // namespace nest::validate
