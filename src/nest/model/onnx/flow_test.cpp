#include "nest/model/onnx/flow.hpp"

#include <gtest/gtest.h>

#include "nest/model/onnx/test_flow.hpp"
#include "support/message_of.hpp"

namespace nest::model {
namespace {

using namespace test;

TEST(Flow, KnowsMakersAndUsers) {
  OnnxWriter w = rows_of_table();
  w.node("Relu", {"x"}, {"a"});
  w.node("Add", {"a", "x"}, {"b"});
  w.output("b");
  const TestGraph graph(w.bytes());
  Flow flow = graph.flow();
  ASSERT_EQ(flow.ops.size(), 3U);
  EXPECT_EQ(flow.maker(graph.value("a"))->op, "Relu");
  EXPECT_EQ(flow.maker(graph.value("input_ids")), nullptr);
  EXPECT_EQ(flow.users(graph.value("x")).size(), 2U);
  EXPECT_EQ(flow.only_user(graph.value("x")), nullptr);
  EXPECT_EQ(flow.only_user(graph.value("a"))->op, "Add");
  EXPECT_EQ(flow.only_user(graph.value("b")), nullptr);
  EXPECT_TRUE(flow.is_output(graph.value("b")));
  EXPECT_EQ(flow.node_of(graph.value("b"))->op, "Add");
  EXPECT_TRUE(flow.tensor_of(graph.value("table")).has_value());
}

TEST(Flow, TidiesAwayWhatLeadsNowhere) {
  OnnxWriter w = rows_of_table();
  w.node("Relu", {"x"}, {"a"});
  w.node("Exp", {"x"}, {"unused"});
  w.output("a");
  const TestGraph graph(w.bytes());
  Flow flow = graph.flow();
  EXPECT_EQ(kinds(flow), (std::vector{FlowKind::lookup, FlowKind::pass}));
  flow.ops[1].alive = false;
  flow.tidy();
  EXPECT_TRUE(flow.ops.empty());
}

TEST(Flow, HasValuesBesideThoseOfTheGraph) {
  OnnxWriter w = rows_of_table();
  w.output("x");
  const TestGraph graph(w.bytes());
  Flow flow = graph.flow();
  const OnnxValueId fresh = flow.fresh_value(graph.value("x"));
  EXPECT_EQ(flow.shape(fresh), (OnnxShape{1, 48, 64}));
  EXPECT_EQ(flow.elements(flow.fresh_value({2, 0}, 1)), 0);
}

TEST(Flow, AsksForShapesThatAreNotKnown) {
  OnnxWriter w = rows_of_table();
  w.node("Strange", {"x"}, {"y"}, {}, "mine");
  w.output("y");
  const TestGraph graph(w.bytes());
  EXPECT_EQ(message_of([&] { static_cast<void>(graph.flow().shape(graph.value("y"))); }),
            "test.onnx: value 'y': its shape is not known; declare it in the file: "
            "onnx.shape_inference.infer_shapes "
            "does so");
}

}  // namespace
}  // namespace nest::model
