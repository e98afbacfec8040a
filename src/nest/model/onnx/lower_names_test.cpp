#include "nest/model/onnx/lower_names.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "nest/model/onnx/test_flow.hpp"

namespace nest::model {
namespace {

using namespace test;

// The names of blocks that are built from a config.json, in their order.
TEST(LowerNames, AreThoseOfBlocks) {
  const TestGraph graph(DecoderWriter({.blocks = 1}).bytes());
  const Flow flow = graph.fused();
  const FlowAxes axes(flow, graph.other);
  const FlowLayer block = cut_flow(flow).front().blocks.front();
  const std::map<std::size_t, std::string> parts = part_names(flow, axes, block, kNoValue);
  std::vector<std::string> names;
  for (const std::size_t i : block.ops) names.push_back(parts.contains(i) ? parts.at(i) : "?");
  EXPECT_EQ(names, (std::vector<std::string>{"attention_norm", "qkv", "rotary", "qkv", "rotary", "qkv",
                                             "attention", "output", "attention_add", "ffn_norm", "gate_up",
                                             "gate_up", "activation", "down", "ffn_add"}));
}

TEST(LowerNames, NameResultsByTheirUse) {
  const TestGraph graph(DecoderWriter({.blocks = 1}).bytes());
  const Flow flow = graph.fused();
  const FlowLayer block = cut_flow(flow).front().blocks.front();
  std::vector<std::string> names;
  for (const std::size_t i : block.ops) {
    if (flow.ops[i].kind == FlowKind::product)
      names.push_back(result_name(flow, block, flow.ops[i].out[0], "p"));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"q", "k", "v", "p", "gate", "up", "p"}));
  EXPECT_EQ(result_name(flow, block, flow.ops[block.ops.back()].out[0], "output"), "attention_result");
}

// Each value is used twice: ways through it are 2^500, operators 500.
TEST(LowerNames, MeetOperatorsOnce) {
  OnnxWriter w = rows_of_table();
  const std::string before = w.op("Add", {w.op("MatMul", {"x", w.weight("first", {64, 64})}), "x"});
  std::string a = w.op("MatMul", {before, w.weight("up", {64, 128})});
  std::string b = w.op("Relu", {a});
  for (int i = 0; i < 500; ++i) {
    const std::string c = w.op("Mul", {a, b});
    a = b;
    b = c;
  }
  w.node("Add", {before, w.op("MatMul", {b, w.weight("down", {128, 64})})}, {"y"});
  w.output("y");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.fused();
  const FlowAxes axes(flow, graph.other);
  FlowLayer all;
  for (std::size_t i = 1; i < flow.ops.size(); ++i) all.ops.push_back(i);
  const std::map<std::size_t, std::string> parts = part_names(flow, axes, all, kNoValue);
  EXPECT_EQ(std::ranges::count(parts, "up", &std::pair<const std::size_t, std::string>::second) +
                std::ranges::count(parts, "gate_up", &std::pair<const std::size_t, std::string>::second),
            1);
}

}  // namespace
}  // namespace nest::model
