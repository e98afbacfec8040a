#include <gtest/gtest.h>

#include "nest/model/onnx/fuse.hpp"
#include "nest/model/onnx/test_flow.hpp"

namespace nest::model {
namespace {

using namespace test;

struct Joined {
  std::vector<FlowOp> ops;
};

Joined joined(const OnnxWriter& w) {
  const TestGraph graph(w.bytes());
  Flow flow = graph.flow();
  join_regions(flow, true);
  return {flow.ops};
}

// x * 0.5 * (1 + tanh(a * (x + b * x^3)))
TEST(FuseRegions, FindActivationsThatAreWrittenOut) {
  OnnxWriter w = rows_of_table();
  w.node("Pow", {"x", w.real("three", 3)}, {"cube"});
  w.node("Mul", {"cube", w.real("b", 0.044715F)}, {"small"});
  w.node("Add", {"x", "small"}, {"sum"});
  w.node("Mul", {"sum", w.real("a", 0.797885F)}, {"inner"});
  w.node("Tanh", {"inner"}, {"t"});
  w.node("Add", {"t", w.real("one", 1)}, {"t1"});
  w.node("Mul", {"x", w.real("half", 0.5F)}, {"halved"});
  w.node("Mul", {"halved", "t1"}, {"y"});
  w.output("y");
  const TestGraph graph(w.bytes());
  const Joined flow = joined(w);
  ASSERT_EQ(flow.ops.size(), 2U);
  EXPECT_EQ(flow.ops[1].kind, FlowKind::pass);
  EXPECT_EQ(flow.ops[1].pass, OperatorKind::gelu);
  EXPECT_FALSE(flow.ops[1].silu);
  EXPECT_EQ(flow.ops[1].in, std::vector<OnnxValueId>{graph.value("x")});
}

TEST(FuseRegions, TellSiluFromSigmoid) {
  OnnxWriter w = rows_of_table();
  w.node("Sigmoid", {"x"}, {"s"});
  w.node("Mul", {"x", "s"}, {"silu"});
  w.node("Sigmoid", {"silu"}, {"y"});
  w.output("y");
  const Joined flow = joined(w);
  ASSERT_EQ(flow.ops.size(), 3U);
  EXPECT_TRUE(flow.ops[1].silu);
  EXPECT_EQ(flow.ops[2].pass, OperatorKind::scale);
}

TEST(FuseRegions, FindNorms) {
  OnnxWriter w = rows_of_table();
  w.node("Mul", {"x", "x"}, {"square"});
  w.node("ReduceMean", {"square", w.wholes("last", {-1})}, {"mean"});
  w.node("Add", {"mean", w.real("epsilon", 1e-6F)}, {"positive"});
  w.node("Sqrt", {"positive"}, {"root"});
  w.node("Div", {"x", "root"}, {"y"});
  w.output("y");
  const Joined flow = joined(w);
  ASSERT_EQ(flow.ops.size(), 2U);
  EXPECT_EQ(flow.ops[1].kind, FlowKind::norm);
  EXPECT_EQ(flow.ops[1].norm, NormKind::rms);
}

// A value that is used outside keeps what makes it apart.
TEST(FuseRegions, StayApartWhereOthersLookIn) {
  OnnxWriter w = rows_of_table();
  w.node("Sigmoid", {"x"}, {"s"});
  w.node("Mul", {"x", "s"}, {"silu"});
  w.node("Add", {"silu", "s"}, {"y"});
  w.output("y");
  w.output("s");
  const Joined flow = joined(w);
  EXPECT_EQ(flow.ops.size(), 2U);  // all of it is one region again, from x to y
  OnnxWriter outside = rows_of_table();
  outside.node("Sigmoid", {"x"}, {"s"});
  outside.node("Mul", {"x", "s"}, {"silu"});
  outside.node("MatMul", {"s", outside.weight("w", {64, 8})}, {"other"});
  outside.output("silu");
  outside.output("other");
  EXPECT_EQ(joined(outside).ops.size(), 4U);
}

// A residual around a product is no region.
TEST(FuseRegions, DoNotGoThroughProducts) {
  OnnxWriter w = rows_of_table();
  w.node("Relu", {"x"}, {"r"});
  w.node("MatMul", {"r", w.weight("w", {64, 64})}, {"p"});
  w.node("Add", {"x", "p"}, {"y"});
  w.output("y");
  EXPECT_EQ(joined(w).ops.size(), 4U);
}

// Half of a head's width turned, the rest passed on (Phi, GPT-NeoX).
TEST(FuseRegions, FindRotaryPositionsOfAPart) {
  OnnxWriter w = rows_of_table(48);
  w.node("Slice", {"x", w.wholes("zero", {0}), w.wholes("middle", {32}), w.wholes("axis", {2})}, {"turn"});
  w.node("Slice", {"x", "middle", w.wholes("end", {64}), "axis"}, {"pass"});
  w.node("Mul", {"turn", w.weight("cosines", {1, 48, 32})}, {"c"});
  w.node("Slice", {"turn", "zero", w.wholes("quarter", {16}), "axis"}, {"a"});
  w.node("Slice", {"turn", "quarter", "middle", "axis"}, {"b"});
  w.node("Neg", {"b"}, {"minus"});
  w.node("Concat", {"minus", "a"}, {"swapped"}, {attribute("axis", std::int64_t{2})});
  w.node("Mul", {"swapped", w.weight("sines", {1, 48, 32})}, {"s"});
  w.node("Add", {"c", "s"}, {"turned"});
  w.node("Concat", {"turned", "pass"}, {"y"}, {attribute("axis", std::int64_t{2})});
  w.output("y");
  const Joined flow = joined(w);
  ASSERT_EQ(flow.ops.size(), 2U);
  EXPECT_EQ(flow.ops[1].kind, FlowKind::rotary);
  EXPECT_TRUE(flow.ops[1].weights.empty());  // sines are no parameters
}

}  // namespace
}  // namespace nest::model
