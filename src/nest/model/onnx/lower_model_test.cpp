#include "nest/model/onnx/lower_model.hpp"

#include <gtest/gtest.h>

#include "nest/model/blocks/build.hpp"
#include "nest/model/onnx/test_flow.hpp"
#include "support/message_of.hpp"

namespace nest::model {
namespace {

using namespace test;

struct Lowered {
  ModelSpec spec;
  Warnings warnings;
};

Lowered lowered(const std::string& bytes) {
  const TestGraph graph(bytes);
  const Flow flow = graph.fused();
  Lowered out;
  out.spec = lower_model(flow, graph.other, false, out.warnings);
  return out;
}

TEST(LowerModel, IsAStackOfEqualBlocks) {
  const ModelSpec spec = lowered(DecoderWriter({.blocks = 4}).bytes()).spec;
  ASSERT_EQ(spec.stacks.size(), 1U);
  const StackSpec& stack = spec.stacks[0];
  EXPECT_EQ(stack.prefix, "layer");
  EXPECT_EQ(stack.hidden, 64);
  ASSERT_EQ(stack.blocks.size(), 4U);
  EXPECT_EQ(stack.blocks[0], stack.blocks[3]);
  EXPECT_EQ(stack.blocks[0].attention.kv_heads, 2);
  EXPECT_EQ(stack.blocks[0].ffn.ffn, 160);
  EXPECT_TRUE(stack.final_norm);
  EXPECT_EQ(spec.head.kind, HeadSpec::Kind::vocabulary);
  EXPECT_EQ(spec.head.outputs, 999);
  EXPECT_TRUE(spec.head.steps.empty());
  const Model model = build_model(spec, {.sequence = 48});
  EXPECT_EQ(model.parameters(), DecoderWriter({.blocks = 4}).parameters());
}

TEST(LowerModel, KnowsTiedTables) {
  const Lowered tied = lowered(DecoderWriter({.blocks = 2, .tied = true}).bytes());
  EXPECT_TRUE(tied.spec.head.tied);
  EXPECT_TRUE(tied.warnings.empty());
  const Model model = build_model(tied.spec, {.sequence = 48});
  EXPECT_EQ(model.parameters(), DecoderWriter({.blocks = 2, .tied = true}).parameters());
  ASSERT_EQ(model.tied.size(), 1U);
}

// torch's older exporter turns a tied weight round and writes it once more under a name of its own.
TEST(LowerModel, WarnsWhereATableMayBeTiedUnseen) {
  std::string bytes = DecoderWriter({.blocks = 2}).bytes();
  for (std::size_t at = bytes.find("lm_head.weight"); at != std::string::npos;
       at = bytes.find("lm_head.weight", at + 1))
    bytes.replace(at, 14, "onnx::MatMul_9");
  EXPECT_EQ(lowered(bytes).warnings,
            Warnings{"test.onnx: the head's weight has the shape of the token table turned round, and "
                     "nothing says whether "
                     "they are one weight; they are counted as two (63,936 parameters each)"});
}

// MLP-Mixer: a product over positions is none that a block of the residual stream has.
TEST(LowerModel, RefusesSumsOverPositions) {
  OnnxWriter w;
  w.input("patches", OnnxWriter::kFloat, {"batch", 16, 64});
  std::string x = w.op("MatMul", {"patches", w.weight("stem", {64, 64})});
  w.weight("mix", {16, 16});
  for (int i = 0; i < 2; ++i) {
    const std::vector<std::string> turn{list_attribute("perm", {0, 2, 1})};
    const std::string mixed = w.op("MatMul", {w.op("Transpose", {x}, turn), "mix"});
    x = w.op("Add", {x, w.op("Transpose", {mixed}, turn)});
  }
  w.node("MatMul", {x, w.weight("head", {64, 9})}, {"y"});
  w.output("y");
  EXPECT_EQ(message_of([&] { (void)lowered(w.bytes()); }),
            "test.onnx: operator 'MatMul': it sums over positions, as layers that mix tokens do, which is "
            "modelled for "
            "attention alone; give a layer profile of the model");
}

// ALBERT: every block has the weights of the first.
TEST(LowerModel, CountsSharedBlocksOnce) {
  OnnxWriter w = rows_of_table();
  std::string x = "x";
  for (const char* name : {"up", "q", "k", "v", "o"}) w.weight(name, {64, 64});
  for (int i = 0; i < 3; ++i) {
    const std::vector<std::string> heads{attribute("num_heads", std::int64_t{4})};
    const std::string q = w.op("MatMul", {x, "q"});
    const std::string k = w.op("MatMul", {x, "k"});
    const std::string v = w.op("MatMul", {x, "v"});
    const std::string core = w.op("MultiHeadAttention", {q, k, v}, heads, "com.microsoft");
    const std::string y = w.op("Add", {x, w.op("MatMul", {core, "o"})});
    x = w.op("Add", {y, w.op("MatMul", {y, "up"})});
  }
  w.node("MatMul", {x, w.weight("head.weight", {64, 999})}, {"y"});
  w.output("y");
  const ModelSpec spec = lowered(w.bytes()).spec;
  ASSERT_EQ(spec.stacks[0].blocks.size(), 3U);
  EXPECT_EQ(spec.stacks[0].blocks[0].shares, std::nullopt);
  EXPECT_EQ(spec.stacks[0].blocks[2].shares, 0);
  EXPECT_EQ(build_model(spec, {.sequence = 16}).parameters(), 2 * 999 * 64 + 5 * 64 * 64);
}

TEST(LowerModel, RefusesBlocksOfDifferentWidths) {
  OnnxWriter w = rows_of_table();
  std::string x = "x";
  std::int64_t width = 64;
  for (int i = 0; i < 3; ++i) {
    const std::string name = "layer" + std::to_string(i);
    const std::string wide = w.op("MatMul", {x, w.weight(name + ".wide", {width, 2 * width})});
    width *= 2;
    const std::string r = w.op("MatMul", {w.op("Relu", {wide}), w.weight(name + ".w", {width, width})});
    x = w.op("Add", {wide, r});
  }
  w.node("Relu", {x}, {"y"});
  w.output("y");
  EXPECT_EQ(message_of([&] { lowered(w.bytes()); }),
            "test.onnx: its blocks differ in width or in the number of positions that they read, which is "
            "not modelled; a "
            "model whose blocks all work on one residual stream can be planned");
}

}  // namespace
}  // namespace nest::model
