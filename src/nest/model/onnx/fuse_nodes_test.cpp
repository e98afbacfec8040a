#include <gtest/gtest.h>

#include "nest/model/onnx/fuse.hpp"
#include "nest/model/onnx/test_flow.hpp"

namespace nest::model {
namespace {

using namespace test;

const FlowOp& last(const Flow& flow) {
  return flow.ops.back();
}

TEST(FuseNodes, TakeAttentionOfOnnx) {
  OnnxWriter w = rows_of_table();
  w.node("Attention", {"x", "x", "x"}, {"y"},
         {attribute("q_num_heads", std::int64_t{8}), attribute("kv_num_heads", std::int64_t{8}),
          attribute("is_causal", std::int64_t{1})});
  w.output("y");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.fused();
  EXPECT_EQ(last(flow).kind, FlowKind::attention);
  EXPECT_EQ(last(flow).attention.heads, 8);
  EXPECT_EQ(last(flow).attention.key_dim, 8);
  EXPECT_TRUE(last(flow).attention.causal);
}

TEST(FuseNodes, TakeGroupedAttentionOfOnnxRuntime) {
  OnnxWriter w = rows_of_table();
  w.node("MatMul", {"x", w.weight("qkv", {64, 96})}, {"packed"});
  w.node("GroupQueryAttention", {"packed", "", "", "", "", "seqlens_k", "total"}, {"y"},
         {attribute("num_heads", std::int64_t{8}), attribute("kv_num_heads", std::int64_t{2}),
          attribute("do_rotary", std::int64_t{1}), attribute("local_window_size", std::int64_t{16})},
         "com.microsoft");
  w.input("seqlens_k", 6, {"batch"});
  w.input("total", 6, {});
  w.output("y");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.fused();
  using enum FlowKind;
  ASSERT_EQ(kinds(flow), (std::vector{lookup, product, rotary, rotary, attention}));
  EXPECT_EQ(flow.ops[1].out.size(), 3U);
  const FlowAttention& a = last(flow).attention;
  EXPECT_EQ(a.kv_heads, 2);
  EXPECT_EQ(a.key_dim, 8);
  EXPECT_EQ(a.window, 16);
  EXPECT_TRUE(a.causal);
}

TEST(FuseNodes, TakeAttentionWithItsProduct) {
  OnnxWriter w = rows_of_table();
  w.node("Attention", {"x", w.weight("qkv", {64, 192}), w.weight("bias", {192})}, {"y"},
         {attribute("num_heads", std::int64_t{4})}, "com.microsoft");
  w.output("y");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.fused();
  ASSERT_EQ(kinds(flow), (std::vector{FlowKind::lookup, FlowKind::product, FlowKind::attention}));
  EXPECT_TRUE(flow.ops[1].bias);
  EXPECT_EQ(flow.ops[1].contract, 64);
  EXPECT_EQ(last(flow).attention.heads, 4);
  EXPECT_EQ(last(flow).attention.value_dim, 16);
}

TEST(FuseNodes, TakeNormsByTheirWeights) {
  const auto norm_of = [](const std::string& op, int weights) {
    OnnxWriter w = rows_of_table();
    std::vector<std::string> inputs{"x"};
    for (int i = 0; i < weights; ++i) inputs.push_back(w.weight("w" + std::to_string(i), {64}));
    w.node(op, inputs, {"y"});
    w.output("y");
    return fused_ops(w).back();
  };
  EXPECT_EQ(norm_of("LayerNormalization", 2).norm, NormKind::layer);
  EXPECT_EQ(norm_of("LayerNormalization", 1).norm, NormKind::layer_weight);
  EXPECT_EQ(norm_of("RMSNormalization", 1).norm, NormKind::rms);
  EXPECT_EQ(norm_of("SimplifiedLayerNormalization", 1).norm, NormKind::rms);
  // Means and variances are no parameters.
  EXPECT_EQ(norm_of("BatchNormalization", 4).weights.size(), 2U);
}

TEST(FuseNodes, TurnOneValueAtATime) {
  OnnxWriter w = rows_of_table();
  w.input("position_ids", 7, {"batch", "sequence"});
  w.node("RotaryEmbedding", {"x", "position_ids", w.weight("cosines", {128, 4}), w.weight("sines", {128, 4})},
         {"y"}, {attribute("num_heads", std::int64_t{8})}, "com.microsoft");
  w.output("y");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.fused();
  EXPECT_EQ(last(flow).kind, FlowKind::rotary);
  EXPECT_TRUE(last(flow).weights.empty());
}

}  // namespace
}  // namespace nest::model
