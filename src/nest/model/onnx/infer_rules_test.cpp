#include "nest/model/onnx/infer_rules.hpp"

#include <gtest/gtest.h>

#include "nest/model/onnx/test_flow.hpp"
#include "support/message_of.hpp"

namespace nest::model {
namespace {

using namespace test;

// The shape that an operator makes of x [2, 3, 4].
OnnxShape made_by(const std::string& op, const std::vector<std::string>& more = {},
                  const std::vector<std::string>& attributes = {}) {
  OnnxWriter w;
  w.input("x", 1, {std::int64_t{2}, std::int64_t{3}, std::int64_t{4}});
  w.input("row", 1, {std::int64_t{4}});
  w.wholes("one", {1});
  w.wholes("two", {2}, true);
  w.wholes("depth", {9}, true);
  std::vector<std::string> inputs{"x"};
  inputs.insert(inputs.end(), more.begin(), more.end());
  w.node(op, inputs, {"y"}, attributes);
  w.output("y");
  return TestGraph(w.bytes()).shape("y");
}

TEST(InferRules, KnowElementWiseOperators) {
  EXPECT_EQ(made_by("Gelu"), (OnnxShape{2, 3, 4}));
  EXPECT_EQ(made_by("Add", {"row"}), (OnnxShape{2, 3, 4}));
  EXPECT_EQ(made_by("Softmax"), (OnnxShape{2, 3, 4}));
}

TEST(InferRules, KnowReductions) {
  EXPECT_EQ(made_by("ReduceMean", {"one"}), (OnnxShape{2, 1, 4}));
  EXPECT_EQ(made_by("ReduceMean", {}, {list_attribute("axes", {-1}), attribute("keepdims", std::int64_t{0})}),
            (OnnxShape{2, 3}));
  EXPECT_EQ(made_by("ReduceSum"), (OnnxShape{1, 1, 1}));
  EXPECT_EQ(made_by("ReduceSum", {}, {attribute("noop_with_empty_axes", std::int64_t{1})}),
            (OnnxShape{2, 3, 4}));
  EXPECT_EQ(made_by("ArgMax", {}, {attribute("axis", std::int64_t{2})}), (OnnxShape{2, 3, 1}));
  EXPECT_EQ(made_by("TopK", {"two"}), (OnnxShape{2, 3, 2}));
  EXPECT_EQ(made_by("OneHot", {"depth"}), (OnnxShape{2, 3, 4, 9}));
}

TEST(InferRules, KnowSizes) {
  EXPECT_EQ(made_by("Shape"), OnnxShape{3});
  EXPECT_EQ(made_by("Shape", {}, {attribute("start", std::int64_t{1}), attribute("end", std::int64_t{-1})}),
            OnnxShape{1});
  EXPECT_EQ(made_by("Size"), OnnxShape{});
}

TEST(InferRules, RefuseAxesThatAreNone) {
  EXPECT_EQ(message_of([] { made_by("ReduceMean", {}, {list_attribute("axes", {5})}); }),
            "test.onnx: operator 'ReduceMean' that makes 'y': axis 5 of a value with 3 axes");
  EXPECT_EQ(message_of([] { made_by("ArgMax", {}, {attribute("axis", std::int64_t{-4})}); }),
            "test.onnx: operator 'ArgMax' that makes 'y': axis -4 of a value with 3 axes");
}

TEST(InferRules, HaveATableForEachDomain) {
  EXPECT_NE(find_shape_rule({"MatMulNBits", "com.microsoft", {}, {}, {}}), nullptr);
  EXPECT_EQ(find_shape_rule({"MatMulNBits", "", {}, {}, {}}), nullptr);
  EXPECT_EQ(find_shape_rule({"MatMul", "com.other", {}, {}, {}}), nullptr);
}

}  // namespace
}  // namespace nest::model
