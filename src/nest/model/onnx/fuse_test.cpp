#include "nest/model/onnx/fuse.hpp"

#include <gtest/gtest.h>

#include "nest/model/onnx/test_flow.hpp"

namespace nest::model {
namespace {

using namespace test;

TEST(Fuse, MakesABlockOfADecoder) {
  using enum FlowKind;
  const TestGraph graph(DecoderWriter({.blocks = 1}).bytes());
  const Flow flow = graph.fused();
  EXPECT_EQ(kinds(flow),
            (std::vector{lookup, norm, product, rotary, product, rotary, product, attention, product, add,
                         norm, product, product, gate, product, add, norm, product}));
}

TEST(Fuse, FindsWeightsBehindPositions) {
  OnnxWriter w = rows_of_table(48);
  w.input("position_ids", 7, {"batch", std::int64_t{48}});
  w.node("Gather", {w.weight("wpe", {128, 64}), "position_ids"}, {"p"});
  w.node("Cast", {"position_ids"}, {"real"}, {attribute("to", std::int64_t{1})});
  w.node("Mul", {"real", w.weight("frequency", {48})}, {"angle"});
  w.node("Sin", {"angle"}, {"sine"});
  w.node("Add", {w.weight("gain", {64}), w.real("one", 1)}, {"gain1"});
  w.node("Add", {"x", "p"}, {"y"});
  w.output("y");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.flow();
  const auto names = [&](const char* value) {
    std::vector<std::string> out;
    for (const FlowWeight& f : weights_behind(flow, graph.value(value)))
      out.push_back(graph.graph.tensors[f.tensor].name);
    return out;
  };
  EXPECT_EQ(names("p"), std::vector<std::string>{"wpe"});
  EXPECT_EQ(names("gain1"), std::vector<std::string>{"gain"});
  EXPECT_TRUE(names("sine").empty());
}

TEST(Fuse, GivesNormsTheirWeights) {
  OnnxWriter w = rows_of_table();
  w.node("ReduceMean", {"x", w.wholes("last", {-1})}, {"mean"});
  w.node("Sub", {"x", "mean"}, {"d"});
  w.node("Pow", {"d", w.real("two", 2)}, {"square"});
  w.node("ReduceMean", {"square", "last"}, {"variance"});
  w.node("Add", {"variance", w.real("epsilon", 1e-5F)}, {"positive"});
  w.node("Sqrt", {"positive"}, {"deviation"});
  w.node("Div", {"d", "deviation"}, {"n"});
  w.node("Mul", {"n", w.weight("gain", {64})}, {"scaled"});
  w.node("Add", {"scaled", w.weight("bias", {64})}, {"y"});
  w.output("y");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.fused();
  ASSERT_EQ(kinds(flow), (std::vector{FlowKind::lookup, FlowKind::norm}));
  EXPECT_EQ(flow.ops[1].norm, NormKind::layer);
  EXPECT_EQ(flow.ops[1].weights.size(), 2U);
}

TEST(Fuse, PutsGatesTogether) {
  OnnxWriter w = rows_of_table();
  w.node("MatMul", {"x", w.weight("wide", {64, 256})}, {"both"});
  w.node("Split", {"both"}, {"gate", "up"}, {attribute("axis", std::int64_t{2})});
  w.node("Gelu", {"gate"}, {"act"});
  w.node("Mul", {"act", "up"}, {"inner"});
  w.node("MatMul", {"inner", w.weight("down", {128, 64})}, {"y"});
  w.output("y");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.fused();
  ASSERT_EQ(kinds(flow),
            (std::vector{FlowKind::lookup, FlowKind::product, FlowKind::gate, FlowKind::product}));
  EXPECT_EQ(flow.ops[1].out.size(), 2U);
  EXPECT_EQ(flow.ops[2].pass, OperatorKind::geglu);
}

TEST(Fuse, KeepsWhatIsAParameterOfPasses) {
  OnnxWriter w = rows_of_table(48);
  w.node("Mul", {"x", w.weight("layer_scale", {64})}, {"a"});
  w.node("Mul", {"a", w.weight("cosines", {1, 48, 64})}, {"b"});
  w.node("Add", {"b", w.weight("positions", {1, 48, 64})}, {"y"});
  w.output("y");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.fused();
  std::vector<std::string> names;
  for (const FlowOp& op : flow.ops) {
    for (const FlowWeight& f : op.weights) names.push_back(graph.graph.tensors[f.tensor].name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"table", "layer_scale", "positions"}));
}

TEST(Fuse, KnowsSquares) {
  EXPECT_TRUE(is_square({1, 1, 48, 48}));
  EXPECT_TRUE(is_square({1, 8, 48, 48}));
  EXPECT_FALSE(is_square({48, 48}));
  EXPECT_FALSE(is_square({1, 1, 1, 1}));
}

}  // namespace
}  // namespace nest::model
