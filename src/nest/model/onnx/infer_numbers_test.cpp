#include "nest/model/onnx/infer_numbers.hpp"

#include <gtest/gtest.h>

#include "nest/model/onnx/test_flow.hpp"

namespace nest::model {
namespace {

using namespace test;
using Wholes = std::vector<std::int64_t>;

Wholes numbers_of(const TestGraph& graph, const std::string& name) {
  const auto& numbers = graph.shapes[graph.value(name)].numbers;
  return numbers ? numbers->wholes : Wholes{-999};
}

// The sizes of x [3, 5, 7] as exporters compute with them.
TEST(InferNumbers, FollowsShapeArithmetic) {
  OnnxWriter w;
  w.input("x", 1, {std::int64_t{3}, std::int64_t{5}, std::int64_t{7}});
  w.node("Shape", {"x"}, {"shape"});
  w.node("Gather", {"shape", w.wholes("at", {2, -3})}, {"picked"}, {attribute("axis", std::int64_t{0})});
  w.node("Slice", {"shape", w.wholes("from", {-2}), w.wholes("to", {INT64_MAX})}, {"end"});
  w.node("Concat", {"end", w.wholes("minus", {-1})}, {"joined"}, {attribute("axis", std::int64_t{0})});
  w.node("Div", {"joined", w.wholes("two", {2}, true)}, {"halves"});
  w.node("Equal", {"joined", "minus"}, {"open"});
  w.node("ConstantOfShape", {w.wholes("three", {3})}, {"ones"},
         {tensor_attribute("value", tensor_bytes("", 7, {1}, raw_wholes({1})))});
  w.node("Where", {"open", "ones", "joined"}, {"wanted"});
  w.node("ReduceProd", {"shape"}, {"all"}, {attribute("keepdims", std::int64_t{0})});
  w.node("Range", {"first", "all", "by"}, {"range"});
  w.wholes("first", {100}, true);
  w.wholes("by", {2}, true);
  w.node("Cast", {"halves"}, {"real"}, {attribute("to", std::int64_t{1})});
  w.node("Identity", {"x"}, {"y"});
  w.output("y");
  const TestGraph graph(w.bytes());
  EXPECT_EQ(numbers_of(graph, "shape"), (Wholes{3, 5, 7}));
  EXPECT_EQ(numbers_of(graph, "picked"), (Wholes{7, 3}));
  EXPECT_EQ(numbers_of(graph, "joined"), (Wholes{5, 7, -1}));
  EXPECT_EQ(numbers_of(graph, "halves"), (Wholes{2, 3, 0}));
  EXPECT_EQ(numbers_of(graph, "open"), (Wholes{0, 0, 1}));
  EXPECT_EQ(numbers_of(graph, "wanted"), (Wholes{5, 7, 1}));
  EXPECT_EQ(numbers_of(graph, "all"), Wholes{105});
  EXPECT_EQ(numbers_of(graph, "range"), (Wholes{100, 102, 104}));
  EXPECT_EQ(graph.shapes[graph.value("real")].numbers->reals, (std::vector<double>{2, 3, 0}));
}

TEST(InferNumbers, KeepsTheLargestNumber) {
  OnnxWriter w;
  w.input("x", 1, {std::int64_t{1}});
  w.node("Identity", {w.wholes("end", {INT64_MAX})}, {"same"});
  w.node("Cast", {"same"}, {"cast"}, {attribute("to", std::int64_t{7})});
  w.node("Identity", {"x"}, {"y"});
  w.output("y");
  EXPECT_EQ(numbers_of(TestGraph(w.bytes()), "cast"), Wholes{INT64_MAX});
}

TEST(InferNumbers, CombinesSingleNumbers) {
  EXPECT_EQ(combine_numbers("Add", {2, 3}), 5);
  EXPECT_EQ(combine_numbers("LessOrEqual", {2, 3}), 1);
  EXPECT_EQ(combine_numbers("Not", {1}), 0);
  EXPECT_EQ(combine_numbers("Div", {1, 0}), std::nullopt);
  EXPECT_EQ(combine_numbers("MatMul", {1, 1}), std::nullopt);
}

}  // namespace
}  // namespace nest::model
