#include "nest/model/onnx/cut.hpp"

#include <gtest/gtest.h>

#include "nest/model/onnx/test_flow.hpp"
#include "support/message_of.hpp"

namespace nest::model {
namespace {

using namespace test;

TEST(Cut, FindsRepeatedBlocks) {
  for (const std::int64_t blocks : {1, 2, 5}) {
    const TestGraph graph(DecoderWriter({.blocks = blocks}).bytes());
    const Flow flow = graph.fused();
    const std::vector<FlowStack> stacks = cut_flow(flow);
    ASSERT_EQ(stacks.size(), 1U);
    EXPECT_EQ(std::ssize(stacks[0].blocks), blocks);
    EXPECT_EQ(stacks[0].stem.ops.size(), 1U);
    EXPECT_EQ(stacks[0].head.ops.size(), 2U);  // norm and logits
    for (const FlowLayer& block : stacks[0].blocks) {
      EXPECT_EQ(block.ops.size(), 15U);
      EXPECT_EQ(signature(flow, block.ops), signature(flow, stacks[0].blocks[0].ops));
    }
  }
}

// The norm of the whole model is no part of the last block, although it looks like one.
TEST(Cut, EndsBlocksWhereTheyEnd) {
  const TestGraph graph(DecoderWriter({.blocks = 2}).bytes());
  const Flow flow = graph.fused();
  const FlowStack stack = cut_flow(flow).front();
  EXPECT_EQ(flow.ops[stack.blocks.back().ops.back()].kind, FlowKind::add);
  EXPECT_EQ(stack.blocks[0].out, stack.blocks[1].in);
  EXPECT_EQ(stack.head.in, stack.blocks[1].out);
}

// Residual sums end blocks where nothing attends.
TEST(Cut, CutsAtSumsWithoutAttention) {
  OnnxWriter w = rows_of_table();
  std::string x = "x";
  for (int i = 0; i < 3; ++i) {
    const std::string name = "layer" + std::to_string(i);
    const std::string up = w.op("MatMul", {x, w.weight(name + ".up", {64, 128})});
    const std::string down = w.op("MatMul", {w.op("Relu", {up}), w.weight(name + ".down", {128, 64})});
    x = w.op("Add", {x, down});
  }
  w.node("MatMul", {x, w.weight("head", {64, 7})}, {"y"});
  w.output("y");
  const TestGraph graph(w.bytes());
  const std::vector<FlowStack> stacks = cut_flow(graph.fused());
  EXPECT_EQ(stacks[0].blocks.size(), 3U);
}

TEST(Cut, RefusesWhatIsNoChain) {
  OnnxWriter w = rows_of_table();
  w.node("MatMul", {"x", w.weight("w", {64, 7})}, {"y"});
  w.output("y");
  const TestGraph graph(w.bytes());
  EXPECT_EQ(message_of([&] { static_cast<void>(cut_flow(graph.fused())); }),
            "test.onnx: no place was found where a single value carries everything on to repeated blocks; a "
            "model with "
            "one chain of blocks, or an encoder and a decoder, can be cut into layers");
}

// Two blocks of a decoder that attends to what an encoder made.
TEST(Cut, TellsEncoderFromDecoder) {
  OnnxWriter w = rows_of_table();
  w.input("decoder_input_ids", 7, {"batch", "sequence"});
  w.node("Gather", {"table", "decoder_input_ids"}, {"d"});
  int n = 0;
  const auto product = [&](const std::string& x) {
    return w.op("MatMul", {x, w.weight("w" + std::to_string(n++), {64, 64})});
  };
  const auto attend = [&](const std::string& x, const std::string& from) {
    const std::vector<std::string> heads{attribute("num_heads", std::int64_t{4})};
    const std::string core =
        w.op("MultiHeadAttention", {product(x), product(from), product(from)}, heads, "com.microsoft");
    return w.op("Add", {x, product(core)});
  };
  std::string e = "x";
  for (int i = 0; i < 2; ++i) e = attend(e, e);
  w.node("LayerNormalization", {e, w.weight("g", {64})}, {"memory"});
  std::string d = "d";
  for (int i = 0; i < 3; ++i) d = attend(attend(d, d), "memory");
  w.node("Identity", {d}, {"y"});
  w.output("y");
  const TestGraph graph(w.bytes());
  const std::vector<FlowStack> stacks = cut_flow(graph.fused());
  ASSERT_EQ(stacks.size(), 2U);
  EXPECT_EQ(stacks[0].blocks.size(), 2U);
  EXPECT_EQ(stacks[0].head.ops.size(), 1U);
  EXPECT_EQ(stacks[0].memory, kNoValue);
  EXPECT_EQ(stacks[1].blocks.size(), 3U);
  EXPECT_EQ(stacks[1].memory, graph.value("memory"));
}

}  // namespace
}  // namespace nest::model
