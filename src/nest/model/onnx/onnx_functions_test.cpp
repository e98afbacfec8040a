#include "nest/model/onnx/onnx_functions.hpp"

#include <gtest/gtest.h>

#include "nest/model/onnx/onnx_file.hpp"
#include "nest/model/onnx/test_onnx.hpp"
#include "support/message_of.hpp"

namespace nest::model {
namespace {

using namespace test;

// silu(x) with its slope as an attribute of the function.
std::string silu(const std::string& called) {
  const std::string scaled = bytes_field(1, "to") + whole_field(20, 2) + bytes_field(21, "kind");
  return bytes_field(1, "Silu") + bytes_field(4, "x") + bytes_field(5, "y") +
         bytes_field(7, node_bytes("Sigmoid", {"x"}, {"s"})) +
         bytes_field(7, node_bytes("Cast", {"s"}, {"t"}, {scaled})) +
         bytes_field(7, node_bytes(called, {"x", "t"}, {"y"}, {}, called == "Silu" ? "mine" : "")) +
         bytes_field(10, "mine") + bytes_field(11, attribute("kind", std::int64_t{1}));
}

OnnxWriter twice(const std::string& function) {
  OnnxWriter w;
  w.input("x", 1, {std::int64_t{2}});
  w.node("Silu", {"x"}, {"a"}, {attribute("kind", std::int64_t{10})}, "mine");
  w.node("Silu", {"a"}, {"b"}, {}, "mine");
  w.output("b");
  w.function(function);
  return w;
}

TEST(OnnxFunctions, StandInPlaceOfTheirCalls) {
  ByteSource source = twice(silu("Mul")).source();
  const OnnxGraph graph = read_onnx_graph(source);
  ASSERT_EQ(graph.nodes.size(), 6U);
  EXPECT_EQ(graph.nodes[0].op, "Sigmoid");
  EXPECT_EQ(graph.nodes[1].whole_or("to", 0), 10);  // the call's
  EXPECT_EQ(graph.nodes[4].whole_or("to", 0), 1);   // the function's
  EXPECT_EQ(graph.values[graph.nodes[2].outputs[0]], "a");
  EXPECT_EQ(graph.values[graph.nodes[5].inputs[0]], "a");
}

TEST(OnnxFunctions, AreRefusedWhereTheyCallThemselves) {
  EXPECT_EQ(
      message_of([] {
        ByteSource source = twice(silu("Silu")).source();
        static_cast<void>(read_onnx_graph(source));
      }),
      "test.onnx: function 'Silu': functions call each other more than 32 deep: one of them calls itself");
}

// Each calls the next one twice: a thousand million nodes of a file of a few kilobytes.
TEST(OnnxFunctions, AreRefusedWhereTheyGrowWithoutEnd) {
  OnnxWriter w;
  w.input("x", 1, {std::int64_t{2}});
  w.node("F0", {"x"}, {"y"}, {}, "mine");
  w.output("y");
  for (int i = 0; i < 30; ++i) {
    const std::string next = "F" + std::to_string(i + 1);
    w.function(bytes_field(1, "F" + std::to_string(i)) + bytes_field(4, "x") + bytes_field(5, "y") +
               bytes_field(7, node_bytes(next, {"x"}, {"m"}, {}, "mine")) +
               bytes_field(7, node_bytes(next, {"m"}, {"y"}, {}, "mine")) + bytes_field(10, "mine"));
  }
  EXPECT_EQ(message_of([&] {
              ByteSource source = w.source();
              static_cast<void>(read_onnx_graph(source));
            }),
            "test.onnx: function 'F29': functions are called more than 300,000 times");
}

}  // namespace
}  // namespace nest::model
