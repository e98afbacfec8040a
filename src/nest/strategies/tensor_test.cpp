#include "nest/strategies/tensor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "nest/strategies/test_layers.hpp"

namespace nest::strategies {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Llama-3.1 8B, 2 * 64 tokens of 4,096 values in 16 bits: 1,048,576 bytes. Two all-reduces forward, two
// backward.
TEST(Tensor, ALlamaLayerHasTwoAllReducesEachWay) {
  const Model m = small_model("llama3.1-8b");
  const ShardedLayer s = shard_layer(block_with(m, "qkv"), {.tensor = 8});
  EXPECT_THAT(collectives(s.layer),
              ElementsAre("qkv.enter: - / all_reduce 1048576", "output.reduce: all_reduce 1048576 / -",
                          "gate_up.enter: - / all_reduce 1048576", "down.reduce: all_reduce 1048576 / -"));
}

TEST(Tensor, ShapesOfOneRank) {
  const Model m = small_model("llama3.1-8b");
  const ShardedLayer s = shard_layer(block_with(m, "qkv"), {.tensor = 4});
  const Operator& qkv = operator_named(s.layer, "qkv");
  EXPECT_EQ(spell(s.layer.tensor(qkv.outputs[0]).shape), "[2 batch, 64 sequence, 8 heads, 128 head_dim]");
  EXPECT_EQ(spell(s.layer.tensor(qkv.outputs[1]).shape), "[2 batch, 64 sequence, 2 kv_heads, 128 head_dim]");
  EXPECT_EQ(spell(s.layer.tensor(operator_named(s.layer, "down").parameters[0]).shape),
            "[3584 ffn, 4096 hidden]");
  EXPECT_EQ(s.replicated_parameters(), 2 * 4096);  // the two norms
  EXPECT_EQ(s.partial_gradient_parameters(), 0);
}

// The opening collective is a copy in name only: what is kept is the tensor before it, once.
TEST(Tensor, WhatIsKeptIsNotKeptTwice) {
  const Model m = small_model("phi-2");  // attention and ffn side by side on one norm
  const LayerType& block = block_with(m, "qkv");
  const ShardedLayer s = shard_layer(block, {.tensor = 4});
  EXPECT_THAT(collectives(s.layer),
              ElementsAre("qkv.enter: - / all_reduce 655360", "output.reduce: all_reduce 655360 / -",
                          "down.reduce: all_reduce 655360 / -"));
  std::set<TensorIndex> kept;
  for (const Operator& op : block.operators) kept.insert(op.keeps.begin(), op.keeps.end());
  std::int64_t expected = 0;
  for (const TensorIndex i : kept) {
    const Shape& shape = block.tensor(i).shape;
    const bool split =
        std::any_of(shape.begin(), shape.end(), [](const Dim& d) { return is_tensor_axis(d.axis); });
    expected += block.tensor(i).bytes().value / (split ? 4 : 1);
  }
  EXPECT_EQ(s.layer.stash_bytes().value, expected);
}

TEST(Tensor, FewerKvHeadsThanRanksAreRepeated) {
  const Model m = small_model("llama3.1-70b");
  const ShardedLayer s = shard_layer(block_with(m, "qkv"), {.tensor = 16});  // 8 KV heads
  EXPECT_EQ(s.layer.tensor(operator_named(s.layer, "qkv").outputs[1]).shape[2], (Dim{Axis::kv_heads, 1}));
  EXPECT_DOUBLE_EQ(s.factor_of("qkv.k.weight", true), 2);
  EXPECT_DOUBLE_EQ(s.factor_of("qkv.q.weight", true), 1);
  // 64 + 2 * 16 heads in place of 64 + 2 * 8
  EXPECT_DOUBLE_EQ(s.factor_of("qkv", false), 96.0 / 80.0);
  EXPECT_DOUBLE_EQ(s.factor_of("attention", false), 1);
  EXPECT_EQ(fact_named(s, "qkv.v.weight").copies, 2);
  EXPECT_TRUE(fact_named(s, "qkv.v.weight").partial_gradient);
  EXPECT_FALSE(fact_named(s, "qkv.q.weight").partial_gradient);
}

// Megatron: 50257 tokens over 8 ranks become ceil(50257 / 1024) * 1024 = 51200.
TEST(Tensor, VocabularyIsPadded) {
  const Model m = small_model("gpt2-xl");
  const ShardedLayer s = shard_layer(m.types.front(), {.tensor = 5});
  EXPECT_EQ(s.layer.tensor(operator_named(s.layer, "token_embedding").parameters[0]).shape[0].size,
            50560 / 5);
  const ShardedLayer wide = shard_layer(m.types.front(), {.tensor = 8});
  ASSERT_EQ(wide.padded.size(), 1U);
  EXPECT_EQ(wide.padded[0].tensor, "token_embedding");
  EXPECT_EQ(wide.padded[0].to, 51200);
  EXPECT_EQ(fact_named(wide, "token_embedding").copies, 1);
  EXPECT_DOUBLE_EQ(wide.factor_of("token_embedding", true), 51200.0 / 50257);
  EXPECT_EQ(fact_named(wide, "position_embedding").copies, 8);
}

// Head of Llama-3.1 8B: the gradient into the logits' input, and three numbers per token for the loss.
TEST(Tensor, LossOverASplitVocabulary) {
  const Model m = small_model("llama3.1-8b");
  const ShardedLayer s = shard_layer(m.types.back(), {.tensor = 8});
  EXPECT_THAT(collectives(s.layer),
              ElementsAre("logits.enter: - / all_reduce 1048576", "loss.max: all_reduce 512 / -",
                          "loss.sum: all_reduce 512 / -", "loss.target: all_reduce 512 / -"));
  // 128256 -> 129024 = 126 * 1024
  EXPECT_EQ(s.layer.tensor(s.layer.outputs[0]).shape.back().size, 16128);
  EXPECT_THAT(collectives(shard_layer(m.types.front(), {.tensor = 8}).layer),
              ElementsAre("token_embedding.reduce: all_reduce 1048576 / -"));
}

// DeepSeek: latents are whole on every rank, heads are split; the one rotary key enters on its own.
TEST(Tensor, LatentAttention) {
  const Model m = small_model("deepseek-v3");
  const LayerType& block = block_with(m, "kv_up");
  const ShardedLayer s = shard_layer(block, {.tensor = 8});
  EXPECT_DOUBLE_EQ(s.factor_of("q_down", false), 8);
  EXPECT_DOUBLE_EQ(s.factor_of("q_up", false), 1);
  EXPECT_DOUBLE_EQ(s.factor_of("q_norm.weight", true), 8);
  EXPECT_EQ(operator_named(s.layer, "rotary.enter").collective.backward_bytes.value, 2 * 64 * 64 * 2);
  EXPECT_FALSE(fact_named(s, "q_norm.weight").partial_gradient);
}

// Qwen3's norm of heads: one weight for all heads, so each rank has a part of its gradient.
TEST(Tensor, NormsOfHeadsHavePartialGradients) {
  const Model m = small_model("qwen3-8b");
  const ShardedLayer s = shard_layer(block_with(m, "q_norm"), {.tensor = 4});
  EXPECT_TRUE(fact_named(s, "q_norm.weight").partial_gradient);
  EXPECT_FALSE(fact_named(s, "attention_norm.weight").partial_gradient);
  EXPECT_EQ(s.layer.tensor(operator_named(s.layer, "q_norm").outputs[0]).shape[2], (Dim{Axis::heads, 8}));
}

TEST(Tensor, HeadsWithoutAVocabularyAreWhole) {
  const Model m = build_model(zoo_model("vit-base"));
  const ShardedLayer s = shard_layer(m.types.back(), {.tensor = 4});
  EXPECT_THAT(collectives(s.layer), IsEmpty());
  EXPECT_DOUBLE_EQ(s.factor_of("classifier", false), 4);
}

TEST(Tensor, BiasesOfProductsByRowAreWhole) {
  const Model m = small_model("gpt2-xl");
  const ShardedLayer s = shard_layer(block_with(m, "qkv"), {.tensor = 5});
  EXPECT_EQ(fact_named(s, "down.bias").copies, 5);
  EXPECT_EQ(fact_named(s, "up.bias").copies, 1);
}

TEST(Tensor, Axes) {
  EXPECT_TRUE(is_tensor_axis(Axis::heads));
  EXPECT_FALSE(is_tensor_axis(Axis::hidden));
}

TEST(Tensor, Refusals) {
  const Model m = small_model("llama3.1-8b");
  EXPECT_EQ(check_strategy(m, {.tensor = 3})->sentence,
            "tensor 3 does not divide the 32 attention heads of layer");
  EXPECT_EQ(check_strategy(m, {.tensor = 3})->rule, "tensor_heads");
  EXPECT_FALSE(check_strategy(m, {.tensor = 16}));
  const Model q = small_model("qwen2.5-7b");  // 28 heads, 4 KV heads
  EXPECT_EQ(check_strategy(q, {.tensor = 7})->sentence,
            "tensor 7 and the 4 KV heads of layer do not divide each other");
}

}  // namespace
}  // namespace nest::strategies
