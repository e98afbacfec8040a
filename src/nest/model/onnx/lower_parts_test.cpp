#include <gtest/gtest.h>

#include "nest/model/onnx/test_lower.hpp"
#include "support/message_of.hpp"

namespace nest::model {
namespace {

using namespace test;

TEST(LowerParts, LaysOutWindowsOfConvolutions) {
  OnnxWriter w = rows_of_table();
  w.node("Transpose", {"x"}, {"c"}, {list_attribute("perm", {0, 2, 1})});
  w.node("Conv", {"c", w.weight("k", {32, 64, 3}), w.weight("b", {32})}, {"y"},
         {list_attribute("pads", {1, 1})});
  w.output("y");
  const std::vector<StepSpec> steps = steps_of(w);
  EXPECT_EQ(names_of(steps), (std::vector<std::string>{"conv_windows", "conv"}));
  EXPECT_EQ(steps[0].window, 3);
  EXPECT_TRUE(steps[1].bias);
}

// Products of two values cost what they cost, and nothing cuts them.
TEST(LowerParts, MakesScansOfUnknownProducts) {
  OnnxWriter w = rows_of_table();
  w.node("Reshape", {"x", w.wholes("square", {0, 0, 8, 8})}, {"m"});
  w.node("MatMul", {"m", "m"}, {"y"});
  w.output("y");
  const std::vector<StepSpec> steps = steps_of(w);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].kind, StepSpec::Kind::scan);
  EXPECT_EQ(steps[0].flops, 2 * 8 * 8 * 8);
}

TEST(LowerParts, RefusesWorkThatGrowsWithTheSequence) {
  OnnxWriter w = rows_of_table();
  w.node("Transpose", {"x"}, {"t"}, {list_attribute("perm", {0, 2, 1})});
  w.node("MatMul", {"x", "t"}, {"square"});
  w.node("MatMul", {"square", "x"}, {"y"});
  w.output("y");
  EXPECT_EQ(message_of([&] { steps_of(w); }),
            "test.onnx: operator 'MatMul': its work for a token grows with the sequence, and it is no "
            "attention that is "
            "known");
}

// com.microsoft's experts: the router's product is one of theirs.
TEST(LowerParts, KnowsExperts) {
  OnnxWriter w = rows_of_table();
  w.node("MatMul", {"x", w.weight("gate", {64, 8})}, {"scores"});
  w.node("Reshape", {"scores", w.wholes("rows", {-1, 8})}, {"flat"});
  w.node("MoE",
         {"x", "flat", w.weight("fc1", {8, 160, 64}), "", w.weight("fc2", {8, 64, 160}), "",
          w.weight("fc3", {8, 160, 64})},
         {"y"}, {attribute("k", std::int64_t{2}), text_attribute("activation_type", "silu")},
         "com.microsoft");
  w.output("y");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.fused();
  FlowAxes axes(flow, graph.other);
  FlowLayer layer;
  for (std::size_t i = 1; i < flow.ops.size(); ++i) layer.ops.push_back(i);
  layer.in = flow.ops[0].out[0];
  FlowWeightUse weights;
  Lowering lowering(flow, axes, layer, kNoValue, weights);
  const std::vector<StepSpec> steps = lowering.steps();
  EXPECT_EQ(names_of(steps), std::vector<std::string>{"experts"});
  ASSERT_TRUE(lowering.experts().has_value());
  EXPECT_EQ(lowering.experts()->experts, 8);
  EXPECT_EQ(lowering.experts()->top_k, 2);
  EXPECT_EQ(lowering.experts()->ffn, 160);
  EXPECT_EQ(lowering.activation(), Activation::swiglu);
}

}  // namespace
}  // namespace nest::model
