#include <gtest/gtest.h>

#include <algorithm>

#include "nest/model/onnx/fuse.hpp"
#include "nest/model/onnx/test_flow.hpp"

namespace nest::model {
namespace {

using namespace test;

const FlowOp* attention_of(const Flow& flow) {
  for (const FlowOp& op : flow.ops) {
    if (op.kind == FlowKind::attention) return &op;
  }
  return nullptr;
}

bool attends(const OnnxWriter& w) {
  const std::vector<FlowKind> found = kinds(fused_ops(w));
  return std::find(found.begin(), found.end(), FlowKind::attention) != found.end();
}

TEST(FuseAttention, ReadsHeadsAndMasks) {
  for (const bool causal : {true, false}) {
    const TestGraph graph(DecoderWriter({.blocks = 1, .causal = causal}).bytes());
    const Flow flow = graph.fused();
    const FlowOp* op = attention_of(flow);
    ASSERT_NE(op, nullptr);
    EXPECT_EQ(op->attention.heads, 8);
    EXPECT_EQ(op->attention.kv_heads, 2);
    EXPECT_EQ(op->attention.key_dim, 8);
    EXPECT_EQ(op->attention.value_dim, 8);
    EXPECT_EQ(op->attention.queries, 48);
    EXPECT_EQ(op->attention.keys, 48);
    EXPECT_EQ(op->attention.causal, causal);
  }
}

// Several sequences at once: heads are those of one.
TEST(FuseAttention, TakesTheBatchOut) {
  const TestGraph graph(DecoderWriter({.blocks = 1}).bytes(), {3, 48});
  Flow flow = make_flow(graph.graph, graph.shapes, 3);
  MaskReader masks(graph.graph, graph.shapes);
  fuse_flow(flow, masks);
  const FlowOp* op = attention_of(flow);
  ASSERT_NE(op, nullptr);
  EXPECT_EQ(op->attention.heads, 8);
  EXPECT_EQ(op->attention.kv_heads, 2);
}

// [heads, queries, keys] of x, with a table of relative positions and a guard against rows without keys.
OnnxWriter scores(const TestDim& length = "sequence") {
  OnnxWriter w = rows_of_table(length);
  w.node("Reshape", {"x", w.wholes("split", {0, 0, 8, 8})}, {"h"});
  w.node("Transpose", {"h"}, {"q"}, {list_attribute("perm", {0, 2, 1, 3})});
  w.node("Transpose", {"h"}, {"k"}, {list_attribute("perm", {0, 2, 3, 1})});
  w.node("MatMul", {"q", "k"}, {"s"});
  return w;
}

TEST(FuseAttention, HoldsTablesOfRelativePositions) {
  OnnxWriter w = scores(48);
  // By its name no tokens come in here, but what is known of positions.
  w.input("position_buckets", 7, {std::int64_t{48}, std::int64_t{48}});
  w.node("Gather", {w.weight("relative", {32, 8}), "position_buckets"}, {"looked_up"});
  w.node("Transpose", {"looked_up"}, {"bias"}, {list_attribute("perm", {2, 0, 1})});
  w.node("Add", {"s", "bias"}, {"biased"});
  w.node("Softmax", {"biased"}, {"p"}, {attribute("axis", std::int64_t{-1})});
  w.node("IsNaN", {"p"}, {"nan"});
  w.node("Where", {"nan", w.real("zero", 0), "p"}, {"guarded"});
  w.node("MatMul", {"guarded", "q"}, {"y"});
  w.output("y");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.fused();
  const FlowOp* op = attention_of(flow);
  ASSERT_NE(op, nullptr);
  ASSERT_EQ(op->weights.size(), 1U);
  EXPECT_EQ(graph.graph.tensors[op->weights[0].tensor].name, "relative");
}

// A softmax that others read too is none of a core's.
TEST(FuseAttention, NeedsTheSharesForItself) {
  OnnxWriter w = scores();
  w.node("Softmax", {"s"}, {"p"});
  w.node("MatMul", {"p", "q"}, {"y"});
  w.output("y");
  w.output("p");
  EXPECT_TRUE(attends(w));  // p is on the way to y, and no end of its own
  OnnxWriter other = scores();
  other.node("Softmax", {"s"}, {"p"});
  other.node("MatMul", {"p", "q"}, {"y"});
  other.node("ReduceSum", {"p"}, {"sum"});
  other.output("y");
  other.output("sum");
  EXPECT_FALSE(attends(other));
}

}  // namespace
}  // namespace nest::model
