#include "nest/model/onnx/infer.hpp"

#include <gtest/gtest.h>

#include "nest/model/onnx/test_flow.hpp"
#include "support/message_of.hpp"

namespace nest::model {
namespace {

using namespace test;

TEST(Infer, FollowsADecoder) {
  const std::string bytes = DecoderWriter({}).bytes();
  const TestGraph short_one(bytes, {1, 48});
  EXPECT_EQ(short_one.shape("logits"), (OnnxShape{1, 48, 999}));
  EXPECT_EQ(short_one.shape("mask"), (OnnxShape{48, 48}));
  EXPECT_EQ(TestGraph(bytes, {3, 96}).shape("logits"), (OnnxShape{3, 96, 999}));
}

TEST(Infer, TakesWhatIsDeclaredWhereNoRuleIs) {
  OnnxWriter w;
  w.input("x", 1, {"batch", "seq"});
  w.node("Strange", {"x"}, {"y"}, {}, "mine");
  w.declare("y", 1, {"batch", "seq", std::int64_t{7}});
  w.output("y");
  EXPECT_EQ(TestGraph(w.bytes(), {2, 10}).shape("y"), (OnnxShape{2, 10, 7}));
  EXPECT_FALSE(has_shape_rule({"Strange", "mine", {}, {}, {}}));
  EXPECT_TRUE(has_shape_rule({"MatMul", "", {}, {}, {}}));
}

TEST(Infer, RefusesGraphsInsideOperators) {
  OnnxWriter w;
  w.input("x", 1, {std::int64_t{1}});
  w.node("Loop", {"x"}, {"y"}, {bytes_field(1, "body") + bytes_field(6, "")});
  w.output("y");
  EXPECT_EQ(message_of([&] { const TestGraph graph(w.bytes()); }),
            "test.onnx: operator 'Loop': it runs a graph of its own, as often as its inputs say, which is "
            "not modelled; "
            "export the model without loops and branches");
}

TEST(Infer, NamesWhatDoesNotGoTogether) {
  OnnxWriter w;
  w.input("x", 1, {std::int64_t{2}, std::int64_t{3}});
  w.weight("w", {4, 5});
  w.node("MatMul", {"x", "w"}, {"y"});
  w.output("y");
  EXPECT_EQ(message_of([&] { const TestGraph graph(w.bytes()); }),
            "test.onnx: operator 'MatMul' that makes 'y': factors of 3 and 4 do not go together");
}

}  // namespace
}  // namespace nest::model
