#include "nest/model/onnx/lower.hpp"

#include <gtest/gtest.h>

#include "nest/model/onnx/test_flow.hpp"
#include "support/message_of.hpp"

namespace nest::model {
namespace {

using namespace test;

// The steps of everything between x and y.
std::vector<StepSpec> steps_of(const OnnxWriter& w) {
  const TestGraph graph(w.bytes());
  const Flow flow = graph.fused();
  FlowAxes axes(flow, graph.other);
  axes.name_hidden(64);
  FlowLayer layer;
  for (std::size_t i = 1; i < flow.ops.size(); ++i) layer.ops.push_back(i);
  layer.in = flow.ops[0].out[0];
  FlowWeightUse weights;
  return Lowering(flow, axes, layer, kNoValue, weights).steps();
}

std::vector<std::string> names_of(const std::vector<StepSpec>& steps) {
  std::vector<std::string> out;
  for (const StepSpec& s : steps) out.push_back(s.name);
  return out;
}

TEST(Lower, PutsProductsOfOneValueTogether) {
  const TestGraph graph(DecoderWriter({.blocks = 1}).bytes());
  const Flow flow = graph.fused();
  FlowAxes axes(flow, graph.other);
  axes.name_hidden(64);
  FlowWeightUse weights;
  const FlowLayer block = cut_flow(flow).front().blocks.front();
  const std::vector<StepSpec> steps = Lowering(flow, axes, block, kNoValue, weights).steps();
  EXPECT_EQ(names_of(steps), (std::vector<std::string>{"attention_norm", "qkv", "rotary", "attention",
                                                       "output", "attention_add", "ffn_norm", "gate_up",
                                                       "activation", "down", "ffn_add"}));
  const StepSpec& qkv = steps[1];
  ASSERT_EQ(qkv.to.size(), 3U);
  EXPECT_EQ(qkv.to[0].name, "q");
  EXPECT_EQ(spell(qkv.to[1].features), "[2 kv_heads, 8 head_dim]");
  EXPECT_EQ(steps[2].from, (std::vector<std::string>{"q", "k"}));  // both are turned at once
  EXPECT_EQ(steps[3].from, (std::vector<std::string>{"q_turned", "k_turned", "v"}));
  EXPECT_TRUE(steps[3].causal);
  EXPECT_EQ(steps[8].pass, OperatorKind::swiglu);
  EXPECT_EQ(steps[8].from, (std::vector<std::string>{"gate", "up"}));
}

TEST(Lower, LaysOutWindowsOfConvolutions) {
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

TEST(Lower, TakesSharesOfPositions) {
  OnnxWriter w = rows_of_table();
  w.node("Gather", {"x", w.wholes("first", {0}, true)}, {"one"}, {attribute("axis", std::int64_t{1})});
  w.node("Relu", {"one"}, {"y"});
  w.output("y");
  const std::vector<StepSpec> steps = steps_of(w);
  EXPECT_EQ(steps[0].kind, StepSpec::Kind::take);
  EXPECT_EQ(steps[0].count, 1);
  EXPECT_GE(steps[0].window, 1 << 30);

  OnnxWriter half = rows_of_table();
  half.node("Slice",
            {"x", half.wholes("a", {0}), half.wholes("b", {INT64_MAX}), half.wholes("axis", {1}),
             half.wholes("step", {2})},
            {"few"});
  half.node("Relu", {"few"}, {"y"});
  half.output("y");
  const std::vector<StepSpec> taken = steps_of(half);
  EXPECT_EQ(taken[0].count, 1);
  EXPECT_EQ(taken[0].window, 2);
}

// Products of two values cost what they cost, and nothing cuts them.
TEST(Lower, MakesScansOfUnknownProducts) {
  OnnxWriter w = rows_of_table();
  w.node("Reshape", {"x", w.wholes("square", {0, 0, 8, 8})}, {"m"});
  w.node("MatMul", {"m", "m"}, {"y"});
  w.output("y");
  const std::vector<StepSpec> steps = steps_of(w);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].kind, StepSpec::Kind::scan);
  EXPECT_EQ(steps[0].flops, 2 * 8 * 8 * 8);
}

TEST(Lower, RefusesWorkThatGrowsWithTheSequence) {
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

TEST(Lower, HoldsParametersOfPasses) {
  OnnxWriter w = rows_of_table();
  w.node("Mul", {"x", w.weight("scale", {64})}, {"y"});
  w.output("y");
  const std::vector<StepSpec> steps = steps_of(w);
  ASSERT_EQ(steps.size(), 1U);
  ASSERT_EQ(steps[0].parameters.size(), 1U);
  EXPECT_EQ(spell(steps[0].parameters[0].features), "[64 hidden]");
}

// com.microsoft's experts: the router's product is one of theirs.
TEST(Lower, KnowsExperts) {
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
