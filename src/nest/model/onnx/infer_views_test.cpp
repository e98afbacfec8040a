#include <gtest/gtest.h>

#include "nest/model/onnx/infer_rules.hpp"
#include "nest/model/onnx/test_flow.hpp"
#include "support/message_of.hpp"

namespace nest::model {
namespace {

using namespace test;

// What an operator makes of x [2, 6, 4] and of lists of whole numbers.
OnnxShape made_by(const std::string& op, const std::vector<std::vector<std::int64_t>>& lists,
                  const std::vector<std::string>& attributes = {},
                  const std::vector<std::string>& others = {}) {
  OnnxWriter w;
  w.input("x", 1, {std::int64_t{2}, std::int64_t{6}, std::int64_t{4}});
  std::vector<std::string> inputs{"x"};
  inputs.insert(inputs.end(), others.begin(), others.end());
  for (const auto& list : lists) inputs.push_back(w.wholes("list" + std::to_string(inputs.size()), list));
  w.node(op, inputs, {"y"}, attributes);
  w.output("y");
  return TestGraph(w.bytes()).shape("y");
}

TEST(InferViews, Reshape) {
  EXPECT_EQ(made_by("Reshape", {{0, -1}}), (OnnxShape{2, 24}));
  EXPECT_EQ(made_by("Reshape", {{4, 3, 4}}), (OnnxShape{4, 3, 4}));
  EXPECT_EQ(made_by("Flatten", {}, {attribute("axis", std::int64_t{2})}), (OnnxShape{12, 4}));
  EXPECT_EQ(message_of([] { made_by("Reshape", {{5, 5}}); }),
            "test.onnx: operator 'Reshape' that makes 'y': it would make 25 of 48 elements");
  EXPECT_EQ(message_of([] { made_by("Reshape", {{-1, -1}}); }),
            "test.onnx: operator 'Reshape' that makes 'y': it leaves two axes open");
}

TEST(InferViews, TurnAndWiden) {
  EXPECT_EQ(made_by("Transpose", {}, {list_attribute("perm", {0, 2, 1})}), (OnnxShape{2, 4, 6}));
  EXPECT_EQ(made_by("Transpose", {}), (OnnxShape{4, 6, 2}));
  EXPECT_EQ(made_by("Unsqueeze", {{0, -1}}), (OnnxShape{1, 2, 6, 4, 1}));
  EXPECT_EQ(made_by("Expand", {{3, 1, 1, 1}}), (OnnxShape{3, 2, 6, 4}));
  EXPECT_EQ(made_by("Tile", {{1, 2, 1}}), (OnnxShape{2, 12, 4}));
  EXPECT_EQ(made_by("Pad", {{0, 1, 0, 0, 2, 0}}), (OnnxShape{2, 9, 4}));
  EXPECT_EQ(message_of([] { made_by("Squeeze", {{1}}); }),
            "test.onnx: operator 'Squeeze' that makes 'y': it takes away an axis of 6 elements");
  EXPECT_EQ(message_of([] { made_by("Transpose", {}, {list_attribute("perm", {0, 0, 1})}); }),
            "test.onnx: operator 'Transpose' that makes 'y': its order names an axis twice");
}

TEST(InferViews, CutAndJoin) {
  EXPECT_EQ(made_by("Slice", {{1}, {INT64_MAX}, {1}}), (OnnxShape{2, 5, 4}));
  EXPECT_EQ(made_by("Slice", {{0}, {-1}, {2}, {2}}), (OnnxShape{2, 6, 2}));
  EXPECT_EQ(made_by("Slice", {{-1}, {INT64_MIN}, {1}, {-1}}), (OnnxShape{2, 6, 4}));
  EXPECT_EQ(made_by("Gather", {{0, 5}}, {attribute("axis", std::int64_t{1})}), (OnnxShape{2, 2, 4}));
  EXPECT_EQ(made_by("Concat", {}, {attribute("axis", std::int64_t{1})}, {"x", "x"}), (OnnxShape{2, 18, 4}));
  EXPECT_EQ(made_by("Split", {{6}}, {attribute("axis", std::int64_t{1})}), (OnnxShape{2, 6, 4}));
  EXPECT_EQ(message_of([] { made_by("Split", {{5}}, {attribute("axis", std::int64_t{1})}); }),
            "test.onnx: operator 'Split' that makes 'y': its parts have 5 of 6 elements");
}

TEST(InferViews, SplitByOneSize) {
  OnnxWriter w;
  w.input("x", 1, {std::int64_t{2}, std::int64_t{10}});
  w.wholes("size", {4}, true);
  w.node("Split", {"x", "size"}, {"a", "b", "c"}, {attribute("axis", std::int64_t{1})});
  w.output("c");
  EXPECT_EQ(TestGraph(w.bytes()).shape("c"), (OnnxShape{2, 2}));
}

TEST(InferViews, MoveBetweenSpaceAndDepth) {
  OnnxWriter w;
  w.input("x", 1, {std::int64_t{1}, std::int64_t{8}, std::int64_t{4}, std::int64_t{4}});
  w.node("DepthToSpace", {"x"}, {"wide"}, {attribute("blocksize", std::int64_t{2})});
  w.node("SpaceToDepth", {"wide"}, {"deep"}, {attribute("blocksize", std::int64_t{4})});
  w.output("deep");
  const TestGraph graph(w.bytes());
  EXPECT_EQ(graph.shape("wide"), (OnnxShape{1, 2, 8, 8}));
  EXPECT_EQ(graph.shape("deep"), (OnnxShape{1, 32, 2, 2}));
}

}  // namespace
}  // namespace nest::model
