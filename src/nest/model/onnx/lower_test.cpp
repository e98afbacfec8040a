#include "nest/model/onnx/lower.hpp"

#include <gtest/gtest.h>

#include "nest/model/onnx/test_lower.hpp"

namespace nest::model {
namespace {

using namespace test;

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

TEST(Lower, HoldsParametersOfPasses) {
  OnnxWriter w = rows_of_table();
  w.node("Mul", {"x", w.weight("scale", {64})}, {"y"});
  w.output("y");
  const std::vector<StepSpec> steps = steps_of(w);
  ASSERT_EQ(steps.size(), 1U);
  ASSERT_EQ(steps[0].parameters.size(), 1U);
  EXPECT_EQ(spell(steps[0].parameters[0].features), "[64 hidden]");
}

}  // namespace
}  // namespace nest::model
