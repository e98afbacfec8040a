#include "nest/model/onnx/axes.hpp"

#include <gtest/gtest.h>

#include "nest/model/onnx/test_flow.hpp"
#include "support/message_of.hpp"

namespace nest::model {
namespace {

using namespace test;

TEST(FlowAxes, NameWhatStrategiesCut) {
  const TestGraph graph(DecoderWriter({.blocks = 1}).bytes());
  const Flow flow = graph.fused();
  const FlowAxes axes(flow, graph.other);
  std::vector<std::string> products;
  for (const FlowOp& op : flow.ops) {
    if (op.kind == FlowKind::product) products.push_back(spell(axes.features(op.out[0])));
  }
  EXPECT_EQ(products, (std::vector<std::string>{"[8 heads, 8 head_dim]", "[2 kv_heads, 8 head_dim]",
                                                "[2 kv_heads, 8 head_dim]", "[64 latent]", "[160 ffn]",
                                                "[160 ffn]", "[64 latent]", "[999 latent]"}));
}

TEST(FlowAxes, NameTheResidualStreamAndTheVocabulary) {
  const TestGraph graph(DecoderWriter({.blocks = 1}).bytes());
  const Flow flow = graph.fused();
  FlowAxes axes(flow, graph.other);
  axes.name_hidden(64);
  axes.name_vocabulary(flow.outputs[0], Axis::vocab);
  EXPECT_EQ(spell(axes.features(graph.value("logits"))), "[999 vocab]");
  EXPECT_EQ(spell(axes.features(flow.ops[0].out[0])), "[64 hidden]");
}

TEST(FlowAxes, CountPositionsForTwoLengths) {
  OnnxWriter w = rows_of_table();
  w.node("Gather", {"x", w.wholes("first", {0}, true)}, {"one"}, {attribute("axis", std::int64_t{1})});
  w.node("MatMul", {"one", w.weight("w", {64, 7})}, {"y"});
  w.output("y");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.fused();
  const FlowAxes axes(flow, graph.other);
  EXPECT_EQ(axes.positions(graph.value("x")), (FlowPositions{48, 96}));
  EXPECT_EQ(axes.positions(graph.value("one")), (FlowPositions{1, 1}));
  EXPECT_EQ(axes.width(graph.value("one")), 64);
  EXPECT_EQ(axes.width(graph.value("y")), 7);
}

// With one length a part of the positions could as well be a part of the features.
TEST(FlowAxes, TellPositionsFromFeaturesByTheAxes) {
  OnnxWriter w;
  w.input("pixels", 1, {std::int64_t{1}, std::int64_t{3}, std::int64_t{16}, std::int64_t{16}});
  w.node("Conv", {"pixels", w.weight("k", {64, 3, 4, 4})}, {"c"}, {list_attribute("strides", {4, 4})});
  w.node("Reshape", {"c", w.wholes("flat", {1, 64, 16})}, {"f"});
  w.node("Transpose", {"f"}, {"x"}, {list_attribute("perm", {0, 2, 1})});
  w.node("Slice", {"x", w.wholes("a", {0}), w.wholes("b", {4}), w.wholes("axis", {1})}, {"few"});
  w.node("Relu", {"few"}, {"y"});
  w.output("y");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.fused();
  const FlowAxes axes(flow, graph.other);
  EXPECT_EQ(axes.positions(graph.value("c")), (FlowPositions{16, 16}));
  EXPECT_EQ(axes.positions(graph.value("few")), (FlowPositions{4, 4}));
  EXPECT_EQ(axes.width(graph.value("few")), 64);
}

// A norm between two products: what lies there is no inside of a feed-forward that could be cut.
TEST(FlowAxes, LeaveNormedWidthsUncut) {
  OnnxWriter w = rows_of_table();
  w.node("MatMul", {"x", w.weight("a", {64, 256})}, {"p"});
  w.node("LayerNormalization", {"p", w.weight("g", {256})}, {"n"});
  w.node("MatMul", {"n", w.weight("b", {256, 64})}, {"y"});
  w.output("y");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.fused();
  EXPECT_EQ(spell(FlowAxes(flow, graph.other).features(graph.value("p"))), "[256 latent]");
}

TEST(FlowAxes, RefuseHeadsThatDoNotDivide) {
  OnnxWriter w = rows_of_table();
  w.node("MultiHeadAttention", {"x", "x", "x"}, {"y"}, {attribute("num_heads", std::int64_t{7})},
         "com.microsoft");
  w.output("y");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.fused();
  EXPECT_EQ(message_of([&] { const FlowAxes axes(flow, graph.other); }),
            "test.onnx: operator 'MultiHeadAttention': its heads do not divide what it reads and makes");
}

}  // namespace
}  // namespace nest::model
