#include "nest/model/onnx/lower_names.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace nest::model
