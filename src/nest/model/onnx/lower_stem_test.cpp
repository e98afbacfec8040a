#include "nest/model/onnx/lower_stem.hpp"

#include <gtest/gtest.h>

#include "nest/model/onnx/read_onnx.hpp"
#include "nest/model/onnx/test_flow.hpp"
#include "support/message_of.hpp"

namespace nest::model {
namespace {

using namespace test;

// The stem that all of a graph is.
StackSpec stem_of(OnnxWriter& w) {
  w.output("y");
  const TestGraph graph(w.bytes());
  const Flow flow = graph.fused();
  FlowAxes axes(flow, graph.other);
  axes.name_hidden(64);
  FlowLayer layer;
  for (std::size_t i = 0; i < flow.ops.size(); ++i) layer.ops.push_back(i);
  layer.out = flow.ops.back().out[0];
  FlowWeightUse weights;
  return lower_stem(flow, axes, layer, weights);
}

TEST(LowerStem, HasTokensPositionsTypesAndANorm) {
  OnnxWriter w = rows_of_table();
  w.input("token_type_ids", 7, {"batch", "sequence"});
  w.input("position_ids", 7, {"batch", "sequence"});
  w.node("Gather", {w.weight("token_type.weight", {2, 64}), "token_type_ids"}, {"t"});
  w.node("Gather", {w.weight("position.weight", {128, 64}), "position_ids"}, {"p"});
  w.node("Add", {"x", "t"}, {"a"});
  w.node("Add", {"a", "p"}, {"b"});
  w.node("LayerNormalization", {"b", w.weight("g", {64}), w.weight("c", {64})}, {"y"});
  const StackSpec stack = stem_of(w);
  EXPECT_EQ(stack.stem.kind, StemSpec::Kind::tokens);
  EXPECT_EQ(stack.stem.vocab, 999);
  EXPECT_EQ(stack.stem.types, 2);
  EXPECT_EQ(stack.stem.positions, 128);
  EXPECT_TRUE(stack.stem.norm);
  EXPECT_EQ(stack.norm, NormKind::layer);
  EXPECT_TRUE(stack.entry.empty());
}

// As RoBERTa numbers its positions by the tokens that are no filling.
OnnxWriter positions_by_tokens() {
  OnnxWriter w = rows_of_table();
  w.node("Add", {"input_ids", w.wholes("one", {1})}, {"ids"});
  w.node("Gather", {w.weight("position.weight", {128, 64}), "ids"}, {"p"});
  return w;
}

TEST(LowerStem, HasPositionsThatAreNumberedByTokens) {
  OnnxWriter w = positions_by_tokens();
  w.node("Add", {"p", "x"}, {"y"});
  const StackSpec stack = stem_of(w);
  EXPECT_EQ(stack.stem.vocab, 999);
  EXPECT_EQ(stack.stem.positions, 128);
  EXPECT_TRUE(stack.entry.empty());
}

TEST(LowerStem, MoreTablesOfTokensAreRefused) {
  OnnxWriter w = positions_by_tokens();
  w.node("Gather", {w.weight("another.weight", {77, 64}), "ids"}, {"q"});
  w.node("Add", {"p", "x"}, {"a"});
  w.node("Add", {"a", "q"}, {"y"});
  EXPECT_EQ(message_of([&] { stem_of(w); }),
            "test.onnx: operator 'Gather': a second value comes in here beside the tokens or the numbers "
            "that the model "
            "begins with, which is not modelled; export the parts of the model one by one");
}

TEST(LowerStem, HasPatchesAndAClassToken) {
  OnnxWriter w;
  w.input("pixels", 1, {"batch", std::int64_t{3}, std::int64_t{32}, std::int64_t{32}});
  w.node("Conv", {"pixels", w.weight("k", {64, 3, 8, 8}), w.weight("b", {64})}, {"c"},
         {list_attribute("strides", {8, 8})});
  w.node("Reshape", {"c", w.wholes("flat", {0, 64, 16})}, {"f"});
  w.node("Transpose", {"f"}, {"t"}, {list_attribute("perm", {0, 2, 1})});
  w.node("Concat", {w.weight("cls", {1, 1, 64}), "t"}, {"j"}, {attribute("axis", std::int64_t{1})});
  w.node("Add", {"j", w.weight("positions", {1, 17, 64})}, {"y"});
  const StackSpec stack = stem_of(w);
  EXPECT_EQ(stack.stem.kind, StemSpec::Kind::patches);
  EXPECT_EQ(stack.stem.patch_values, 3 * 8 * 8);
  EXPECT_TRUE(stack.stem.patch_bias);
  EXPECT_TRUE(stack.stem.class_token);
  EXPECT_EQ(stack.stem.positions, 17);
}

TEST(LowerStem, TakesTheRestAsSteps) {
  OnnxWriter w = rows_of_table();
  w.node("MatMul", {"x", w.weight("up", {64, 256})}, {"wide"});
  w.node("Mul", {"wide", w.real("scale", 16)}, {"y"});
  const StackSpec stack = stem_of(w);
  EXPECT_EQ(stack.stem.width, 64);
  EXPECT_FALSE(stack.stem.projected);
  EXPECT_EQ(stack.entry.size(), 2U);
}

TEST(LowerStem, RefusesWhatGoesThroughNoProduct) {
  OnnxWriter w;
  w.input("inputs_embeds", 1, {"batch", "sequence", std::int64_t{64}});
  w.node("Relu", {"inputs_embeds"}, {"y"});
  EXPECT_EQ(message_of([&] { stem_of(w); }),
            "test.onnx: what comes in goes through no product at first; export the model with input_ids or "
            "pixel_values "
            "as its inputs");
}

// Two tables of tokens, or an image beside them: neither is the stem of one residual stream.
TEST(LowerStem, RefusesASecondValueThatComesIn) {
  OnnxWriter w;
  w.input("frames", OnnxWriter::kFloat, {"batch", "sequence", std::int64_t{80}});
  w.input("other", OnnxWriter::kFloat, {"batch", "sequence", std::int64_t{64}});
  w.node("MatMul", {"frames", w.weight("first", {80, 64})}, {"x"});
  std::string x = w.op("Add", {"x", "other"});
  for (int i = 0; i < 2; ++i) {
    const std::string n = std::to_string(i);
    const std::string up = w.op("Relu", {w.op("MatMul", {x, w.weight("up" + n, {64, 128})})});
    x = w.op("Add", {x, w.op("MatMul", {up, w.weight("down" + n, {128, 64})})});
  }
  w.node("Identity", {x}, {"y"});
  w.output("y");
  Warnings warnings;
  ByteSource source = w.source();
  EXPECT_EQ(
      message_of([&] { static_cast<void>(read_onnx(source, "test", "", warnings)); }),
      "test.onnx: a second value comes in here beside the tokens or the numbers that the model begins with, "
      "which is not modelled; export the parts of the model one by one");
}

}  // namespace
}  // namespace nest::model
