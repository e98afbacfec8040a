#include "nest/model/blocks/blocks.hpp"

#include <gtest/gtest.h>

namespace nest::model {
namespace {

const Shape kTokens{{Axis::batch, 2}, {Axis::sequence, 16}, {Axis::hidden, 64}};

AttentionSpec grouped_attention() {
  AttentionSpec a;
  a.heads = 8;
  a.kv_heads = 2;
  a.head_dim = 8;
  return a;
}

const Operator& named(const LayerType& layer, const std::string& name) {
  for (const Operator& op : layer.operators) {
    if (op.name == name) return op;
  }
  ADD_FAILURE() << "no operator " << name;
  return layer.operators.front();
}

TEST(Blocks, GroupedQueriesHaveFewerKeys) {
  LayerBuilder b("x");
  const TensorIndex x = b.input("x", kTokens);
  const TensorIndex y = add_attention(b, "", x, grouped_attention());
  EXPECT_EQ(b.shape(y), kTokens);
  const LayerType layer = b.finish({y});
  EXPECT_EQ(layer.parameters(), 64 * 64 + 2 * 64 * 16 + 64 * 64);
  EXPECT_EQ(layer.tensor(named(layer, "qkv").outputs[1]).shape[2], (Dim{Axis::kv_heads, 2}));
}

// DeepSeek's counts: q_down + norm + q_up + kv_down (with the rotary key) + norm + kv_up + output.
TEST(Blocks, LatentAttentionCountsItsRanks) {
  AttentionSpec a;
  a.heads = a.kv_heads = 4;
  a.latent =
      LatentAttention{.query_rank = 24, .key_value_rank = 16, .nope_dim = 8, .rope_dim = 4, .value_dim = 6};
  LayerBuilder b("x");
  const LayerType layer = b.finish({add_attention(b, "", b.input("x", kTokens), a)});
  EXPECT_EQ(layer.parameters(),
            64 * 24 + 24 + 24 * 4 * 12 + 64 * (16 + 4) + 16 + 16 * 4 * (8 + 6) + 4 * 6 * 64);
  // 2 batch * 4 heads, keys of 12 and values of 6, half of 16 * 16 pairs
  EXPECT_DOUBLE_EQ(named(layer, "attention").forward_flops.value, 2.0 * 2 * 4 * (16 * 16 / 2.0) * (12 + 6));
}

TEST(Blocks, ExpertsSeeTopKCopiesOfEachToken) {
  LayerBuilder b("x");
  const TensorIndex x = b.input("x", kTokens);
  const ExpertsSpec spec{
      .experts = 16, .top_k = 4, .ffn = 32, .shared_ffn = 48, .shared_gate = true, .correction_bias = true};
  const TensorIndex y = add_experts(b, x, spec, Activation::swiglu);
  EXPECT_EQ(b.shape(y), kTokens);
  const LayerType layer = b.finish({y});
  EXPECT_EQ(layer.tensor(named(layer, "dispatch").outputs[0]).shape,
            (Shape{{Axis::routed, 2 * 16 * 4}, {Axis::hidden, 64}}));
  EXPECT_EQ(layer.expert_parameters(), 16 * 3 * 64 * 32);
  EXPECT_EQ(layer.parameters(), 16 * 3 * 64 * 32 + 64 * 16 + 16 + 3 * 64 * 48 + 64);
  EXPECT_EQ(layer.active_parameters(), 4 * 3 * 64 * 32 + 64 * 16 + 16 + 3 * 64 * 48 + 64);
}

TEST(Blocks, LayoutsDifferInTheirNorms) {
  const auto norms = [](NormLayout layout) {
    BlockSpec spec;
    spec.layout = layout;
    spec.attention = grouped_attention();
    spec.ffn = {128, Activation::swiglu};
    LayerBuilder b("x");
    const LayerType layer = b.finish({add_block(b, b.input("x", kTokens), spec)});
    return std::count_if(layer.operators.begin(), layer.operators.end(),
                         [](const Operator& op) { return op.kind == OperatorKind::rms_norm; });
  };
  EXPECT_EQ(norms(NormLayout::pre), 2);
  EXPECT_EQ(norms(NormLayout::post), 2);
  EXPECT_EQ(norms(NormLayout::parallel), 1);
  EXPECT_EQ(norms(NormLayout::parallel_two), 2);
  EXPECT_EQ(norms(NormLayout::sandwich), 4);
}

TEST(Blocks, CrossAttentionReadsTheMemory) {
  BlockSpec spec;
  spec.attention = grouped_attention();
  spec.cross = spec.attention;
  spec.cross->causal = false;
  spec.ffn = {128, Activation::relu};
  LayerBuilder b("x");
  const TensorIndex memory =
      b.input("memory", {{Axis::batch, 2}, {Axis::source_sequence, 40}, {Axis::hidden, 64}});
  const LayerType layer = b.finish({add_block(b, b.input("x", kTokens), spec, memory)});
  EXPECT_EQ(named(layer, "cross_kv").inputs.front(), memory);
  EXPECT_DOUBLE_EQ(named(layer, "cross_attention").forward_flops.value, 2.0 * 2 * 8 * 16 * 40 * (8 + 8));
}

}  // namespace
}  // namespace nest::model
