#include "nest/validate/runs/run_model.hpp"

#include <gtest/gtest.h>

#include "nest/model/blocks/build.hpp"
#include "nest/validate/runs/test_runs.hpp"

namespace nest::validate {
namespace {

const BlockSpec& block(const RunModel& model, std::size_t i = 0) {
  return model.spec->stacks[0].blocks[i];
}

TEST(RunModel, LlamaUnlessTheNameSaysOtherwise) {
  RunRow row = made_up_run();
  row.ffn.reset();
  const RunModel llama = run_model(row);
  ASSERT_TRUE(llama.spec) << llama.why_not;
  EXPECT_EQ(block(llama).ffn.ffn, 5632);  // 8/3 * 2048 = 5461, rounded up to 256
  EXPECT_EQ(block(llama).ffn.activation, Activation::swiglu);
  EXPECT_EQ(block(llama).attention.kv_heads, 8);
  EXPECT_FALSE(llama.spec->head.tied);
  row.model = "GPT 1B";
  row.kv_heads.reset();
  const RunModel gpt = run_model(row);
  EXPECT_EQ(block(gpt).ffn.ffn, 8192);
  EXPECT_EQ(block(gpt).norm, NormKind::layer);
  EXPECT_TRUE(block(gpt).attention.output_bias);
  EXPECT_EQ(gpt.spec->stacks[0].stem.positions, 4096);
  EXPECT_TRUE(gpt.spec->head.tied);
}

// The published counts of MPT-7B's benchmark differ by 2048 * 4096 from one sequence length to the next:
// positions are learned. 12 L h^2 + biases and norms 13 h + the table is the rest.
TEST(RunModel, MptHasTheParametersThatItsTablePrints) {
  RunRow row = made_up_run();
  row.model = "MPT-7b";
  row.layers = 32;
  row.hidden = 4096;
  row.heads = row.kv_heads = 32;
  row.ffn = 16384;
  row.vocab = 50368;
  row.sequence = 2048;
  const RunModel model = run_model(row);
  EXPECT_EQ(build_model(*model.spec, {.sequence = 2048}).parameters(), 6658859008);
}

TEST(RunModel, TruncatedModelsOfTheZoo) {
  RunRow row = made_up_run();
  row.model = "deepseekv3 truncated";
  row.layers = 4;
  row.hidden = 7168;
  row.heads = row.kv_heads = 128;
  row.experts = 256;
  row.notes = "1 dense layer, padded";
  const RunModel model = run_model(row);
  ASSERT_TRUE(model.spec) << model.why_not;
  ASSERT_EQ(model.spec->stacks[0].blocks.size(), 4U);
  EXPECT_FALSE(block(model, 0).experts);
  EXPECT_TRUE(block(model, 1).experts);
  EXPECT_TRUE(block(model, 0).attention.latent);
  EXPECT_EQ(model.spec->mtp_layers, 0);
}

TEST(RunModel, SizeInTheNameDecidesWhatIsOpen) {
  RunRow row = made_up_run();
  row.layers = 10;
  row.hidden = 1024;
  row.heads = row.kv_heads = 16;
  row.ffn = 4096;
  row.vocab = 1000;
  row.model = "MaxText 0.17B";  // 3 matrices: 10 * (4 + 12) * 2^20 = 168 M; 2: 126 M
  EXPECT_EQ(block(run_model(row)).ffn.activation, Activation::swiglu);
  row.model = "MaxText 0.126B";
  EXPECT_EQ(block(run_model(row)).ffn.activation, Activation::relu);
}

TEST(RunModel, WhatIsMissingIsNamed) {
  RunRow row = made_up_run();
  row.layers.reset();
  row.heads.reset();
  EXPECT_EQ(run_model(row).why_not, "the model's shape is not stated: layers, heads");
  row = made_up_run();
  row.hidden = 1'000'000'000'000;
  EXPECT_EQ(run_model(row).why_not, "the model's shape is out of range");
  row = made_up_run();
  row.kv_heads = 5;
  EXPECT_EQ(run_model(row).why_not, "heads, key-value heads and hidden size do not go together");
  row = made_up_run();
  row.kv_heads = 15;
  row.heads = 15;
  EXPECT_EQ(run_model(row).why_not, "hidden size 2048 is no multiple of 15 heads");
}

}  // namespace
}  // namespace nest::validate
