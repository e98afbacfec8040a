#include <gtest/gtest.h>

#include "nest/model/onnx/fuse.hpp"
#include "nest/model/onnx/test_flow.hpp"
#include "support/message_of.hpp"

namespace nest::model {
namespace {

using namespace test;

FlowOp product_of(OnnxWriter& w) {
  w.output("y");
  return fused_ops(w).back();
}

TEST(FuseProducts, KnowWhichFactorIsTheWeight) {
  OnnxWriter plain = rows_of_table();
  plain.node("MatMul", {"x", plain.weight("w", {64, 7})}, {"y"});
  FlowOp op = product_of(plain);
  EXPECT_EQ(op.contract, 64);
  EXPECT_EQ(op.weights[0].dims, (OnnxShape{64, 7}));

  OnnxWriter turned = rows_of_table();
  turned.node("Reshape", {"x", turned.wholes("flat", {-1, 64})}, {"rows"});
  turned.node("Gemm", {"rows", turned.weight("w", {7, 64}), turned.weight("b", {7})}, {"y"},
              {attribute("transB", std::int64_t{1})});
  op = product_of(turned);
  EXPECT_EQ(op.weights[0].dims, (OnnxShape{64, 7}));
  EXPECT_TRUE(op.bias);

  OnnxWriter first = rows_of_table();
  first.node("Transpose", {"x"}, {"columns"}, {list_attribute("perm", {0, 2, 1})});
  first.node("MatMul", {first.weight("w", {7, 64}), "columns"}, {"y"});
  op = product_of(first);
  EXPECT_EQ(op.kind, FlowKind::product);
  EXPECT_EQ(op.weights[0].dims, (OnnxShape{64, 7}));

  OnnxWriter sums = rows_of_table();
  sums.node("Einsum", {"x", sums.weight("w", {64, 8, 9})}, {"y"},
            {text_attribute("equation", "bsh,hnd->bsnd")});
  op = product_of(sums);
  EXPECT_EQ(op.kind, FlowKind::product);
  EXPECT_EQ(op.weights[0].dims, (OnnxShape{64, 72}));
}

TEST(FuseProducts, KnowProductsOfSeveral) {
  OnnxWriter w = rows_of_table();
  w.node("Transpose", {"x"}, {"t"}, {list_attribute("perm", {0, 2, 1})});
  w.node("MatMul", {"x", "t"}, {"y"});
  FlowOp op = product_of(w);
  EXPECT_EQ(op.kind, FlowKind::batched);
  EXPECT_EQ(op.contract, 64);

  OnnxWriter stacked = rows_of_table();
  stacked.node("Unsqueeze", {"x", stacked.wholes("axis", {1})}, {"wide"});
  stacked.node("MatMul", {"wide", stacked.weight("w", {4, 64, 8})}, {"y"});
  op = product_of(stacked);
  EXPECT_EQ(op.kind, FlowKind::batched);
}

TEST(FuseProducts, TakeBiasesThatAreAdded) {
  OnnxWriter w = rows_of_table();
  w.node("MatMul", {"x", w.weight("w", {64, 7})}, {"p"});
  w.node("Add", {w.weight("b", {7}), "p"}, {"y"});
  const FlowOp op = product_of(w);
  EXPECT_TRUE(op.bias);
  EXPECT_EQ(op.weights.size(), 2U);
}

TEST(FuseProducts, AreCutIntoParts) {
  OnnxWriter w = rows_of_table();
  w.node("MatMul", {"x", w.weight("w", {64, 96})}, {"p"});
  w.node("Slice", {"p", w.wholes("a", {0}), w.wholes("b", {64}), w.wholes("axis", {2})}, {"q"});
  w.node("Slice", {"p", "b", w.wholes("c", {96}), "axis"}, {"k"});
  w.node("Relu", {"q"}, {"q1"});
  w.node("Relu", {"k"}, {"k1"});
  w.node("Concat", {"q1", "k1"}, {"y"}, {attribute("axis", std::int64_t{2})});
  w.node("MatMul", {"q1", w.weight("w2", {64, 64})}, {"z"});
  w.output("z");
  w.output("y");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.fused();
  EXPECT_EQ(flow.ops[1].out.size(), 2U);
}

TEST(FuseProducts, KnowConvolutions) {
  const auto op_of = [](std::int64_t groups, const std::vector<std::int64_t>& kernel) {
    OnnxWriter w;
    w.input("pixels", 1, {"batch", std::int64_t{8}, std::int64_t{16}, std::int64_t{16}});
    w.node("Conv", {"pixels", w.weight("w", kernel)}, {"y"}, {attribute("group", groups)});
    return product_of(w);
  };
  EXPECT_EQ(op_of(1, {32, 8, 3, 3}).kind, FlowKind::convolution);
  EXPECT_EQ(op_of(1, {32, 8, 3, 3}).contract, 72);
  EXPECT_EQ(op_of(8, {8, 1, 3, 3}).kind, FlowKind::batched);
}

TEST(FuseProducts, RefusePackedWeightsWithoutSizes) {
  OnnxWriter w = rows_of_table();
  w.node("MatMulNBits", {"x", w.weight("w", {7, 4, 16}, 2)}, {"y"},
         {attribute("K", std::int64_t{64}), attribute("N", std::int64_t{0})}, "com.microsoft");
  w.output("y");
  EXPECT_EQ(message_of([&] { fused_ops(w); }),
            "test.onnx: operator 'MatMulNBits': its K and N are no sizes of a weight");
}

}  // namespace
}  // namespace nest::model
