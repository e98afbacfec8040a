#include <gtest/gtest.h>

#include "nest/model/onnx/flow.hpp"
#include "nest/model/onnx/test_flow.hpp"
#include "support/message_of.hpp"

namespace nest::model {
namespace {

using namespace test;

// Shapes and positions are computed beside what flows, and views of it are it.
TEST(FlowMake, LeavesOutShapesAndViews) {
  const TestGraph graph(DecoderWriter({.blocks = 1}).bytes());
  const Flow flow = graph.flow();
  for (const FlowOp& op : flow.ops) {
    for (const char* word :
         {"Shape", "Reshape", "Transpose", "Cast", "Unsqueeze", "Range", "Cos", "LessOrEqual"})
      EXPECT_NE(op.op, word);
  }
  EXPECT_EQ(flow.ops.front().kind, FlowKind::lookup);
  EXPECT_EQ(flow.ops.back().kind, FlowKind::product);
  ASSERT_EQ(flow.outputs.size(), 1U);
}

TEST(FlowMake, TellsWeightsFromConstants) {
  OnnxWriter w = rows_of_table();
  w.node("Mul", {"x", w.real("scale", 8)}, {"a"});
  w.node("Mul", {"a", w.weight("gain", {64})}, {"b"});
  w.node("Transpose", {w.weight("w", {7, 64})}, {"turned"});
  w.node("MatMul", {"b", "turned"}, {"y"});
  w.output("y");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.flow();
  ASSERT_EQ(flow.ops.size(), 4U);
  EXPECT_TRUE(flow.ops[1].weights.empty());
  EXPECT_EQ(flow.ops[1].side.size(), 1U);
  ASSERT_EQ(flow.ops[2].weights.size(), 1U);
  // A view of a weight is that weight, in the shape in which it is read.
  ASSERT_EQ(flow.ops[3].weights.size(), 1U);
  EXPECT_EQ(graph.graph.tensors[flow.ops[3].weights[0].tensor].name, "w");
  EXPECT_EQ(flow.ops[3].weights[0].dims, (OnnxShape{64, 7}));
}

// Tables of positions and types are looked up beside what flows.
TEST(FlowMake, BeginsWithTokens) {
  OnnxWriter w = rows_of_table();
  w.input("token_type_ids", 7, {"batch", "sequence"});
  w.node("Gather", {w.weight("types", {2, 64}), "token_type_ids"}, {"t"});
  w.node("Add", {"x", "t"}, {"y"});
  w.output("y");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.flow();
  EXPECT_EQ(kinds(flow), (std::vector{FlowKind::lookup, FlowKind::pass}));
  EXPECT_EQ(flow.ops[1].side.size(), 1U);
}

TEST(FlowMake, JoinsWithEmptyCaches) {
  OnnxWriter w = rows_of_table();
  w.input("past_key_values.0", 1, {"batch", "past", std::int64_t{64}});
  w.node("Concat", {"past_key_values.0", "x"}, {"present.0"}, {attribute("axis", std::int64_t{1})});
  w.node("Relu", {"present.0"}, {"y"});
  w.output("y");
  w.output("present.0");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.flow();
  EXPECT_EQ(kinds(flow), (std::vector{FlowKind::lookup, FlowKind::pass}));
  EXPECT_EQ(flow.outputs.size(), 1U);
}

TEST(FlowMake, AddsBeforeFusedNorms) {
  OnnxWriter w = rows_of_table();
  w.node("SkipSimplifiedLayerNormalization", {"x", "x", w.weight("g", {64})}, {"n", "", "", "sum"}, {},
         "com.microsoft");
  w.node("Add", {"n", "sum"}, {"y"});
  w.output("y");
  EXPECT_EQ(kinds(flow_ops(w)),
            (std::vector{FlowKind::lookup, FlowKind::add, FlowKind::norm, FlowKind::add}));
}

TEST(FlowMake, NotesOperatorsThatNobodyKnows) {
  OnnxWriter w = rows_of_table();
  w.node("Strange", {"x"}, {"y"}, {}, "mine");
  w.declare("y", 1, {"batch", "sequence", std::int64_t{64}});
  w.output("y");
  const TestGraph graph(w.bytes());
  EXPECT_EQ(graph.flow().unknown, std::set<std::string>{"mine.Strange"});
}

TEST(FlowMake, RefusesGraphsWithoutWork) {
  OnnxWriter w;
  w.input("attention_mask", 7, {"batch", "sequence"});
  w.node("Neg", {"attention_mask"}, {"y"});
  w.output("y");
  EXPECT_EQ(message_of([&] { flow_ops(w); }),
            "test.onnx: no output depends on tokens or on real numbers that come in; export the model with "
            "its input_ids "
            "or pixel_values as inputs");
}

}  // namespace
}  // namespace nest::model
