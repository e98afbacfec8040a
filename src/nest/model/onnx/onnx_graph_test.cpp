#include "nest/model/onnx/onnx_graph.hpp"

#include <gtest/gtest.h>

namespace nest::model {
namespace {

TEST(OnnxGraph, KnowsElementTypes) {
  for (const int type : {1, 10, 11, 16}) EXPECT_TRUE(is_real_type(type) && !is_whole_type(type)) << type;
  for (const int type : {6, 7, 9}) EXPECT_TRUE(is_whole_type(type) && !is_real_type(type)) << type;
  constexpr int kText = 8;
  EXPECT_FALSE(is_real_type(kText) || is_whole_type(kText));
  EXPECT_EQ(bits_of_type(16), 16);
  EXPECT_EQ(bits_of_type(22), 4);
  EXPECT_EQ(bits_of_type(kText), 0);
}

TEST(OnnxGraph, CountsElements) {
  OnnxTensor tensor;
  EXPECT_EQ(tensor.elements(), 1);
  tensor.dims = {3, 4};
  EXPECT_EQ(tensor.elements(), 12);
  // The order of axes does not matter to a product that would be too large.
  tensor.dims = {1'000'000'000'000, 1'000'000'000'000, 0};
  EXPECT_EQ(tensor.elements(), 0);
}

TEST(OnnxGraph, MeasuresShapes) {
  EXPECT_EQ(elements_of({}), 1);
  EXPECT_EQ(elements_of({2, 1, 3}), 6);
  EXPECT_EQ(long_axes({1, 2, 0, 3}), 2);
}

TEST(OnnxGraph, FindsPartsOfNamesInAnyCase) {
  EXPECT_TRUE(has_part("Past_Key_Values.0", {"cache", "past"}));
  EXPECT_FALSE(has_part("input_ids", {"cache", "past"}));
}

TEST(OnnxGraph, FindsAttributes) {
  OnnxNode node;
  node.inputs = {4, kNoValue};
  OnnxAttribute axis;
  axis.name = "axis";
  axis.whole = 2;
  node.attributes.push_back(axis);
  EXPECT_EQ(node.whole_or("axis", -1), 2);
  EXPECT_EQ(node.whole_or("keepdims", 1), 1);
  EXPECT_EQ(node.find("perm"), nullptr);
  EXPECT_TRUE(node.reads(0));
  EXPECT_FALSE(node.reads(1) || node.reads(2));
}

}  // namespace
}  // namespace nest::model
