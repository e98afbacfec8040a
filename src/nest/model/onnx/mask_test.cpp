#include "nest/model/onnx/mask.hpp"

#include <gtest/gtest.h>

#include "nest/model/onnx/test_flow.hpp"

namespace nest::model {
namespace {

using namespace test;

// Positions of queries in a column and of keys in a row, as exporters compare them.
OnnxWriter positions() {
  OnnxWriter w;
  w.input("input_ids", 7, {"batch", "sequence"});
  w.input("attention_mask", 7, {"batch", "sequence"});
  w.node("Shape", {"input_ids"}, {"shape"});
  w.node("Gather", {"shape", w.wholes("one", {1}, true)}, {"length"});
  w.node("Range", {w.wholes("zero", {0}, true), "length", "one"}, {"range"});
  w.node("Unsqueeze", {"range", w.wholes("axis1", {1})}, {"query"});
  w.node("Unsqueeze", {"range", w.wholes("axis0", {0})}, {"key"});
  w.weight("table", {999, 64});
  w.node("Gather", {"table", "input_ids"}, {"x"});
  w.output("x");
  return w;
}

MaskFacts facts_of(const OnnxWriter& w, std::int64_t length, MaskUse use = {}) {
  const TestGraph graph(w.bytes(), {1, length});
  MaskReader reader(graph.graph, graph.shapes);
  use.value = graph.value("mask");
  return read_mask(reader, {use}, length, length);
}

constexpr MaskUse kChoice{kNoValue, false, true};

TEST(Mask, TellsCausalOnes) {
  OnnxWriter w = positions();
  w.node("LessOrEqual", {"key", "query"}, {"mask"});
  const MaskFacts facts = facts_of(w, 1'000, kChoice);
  EXPECT_TRUE(facts.causal);
  EXPECT_EQ(facts.window, 0);
}

TEST(Mask, FindsWindows) {
  OnnxWriter w = positions();
  w.node("LessOrEqual", {"key", "query"}, {"before"});
  w.node("Sub", {"query", w.wholes("window", {128}, true)}, {"first"});
  w.node("Greater", {"key", "first"}, {"near"});
  w.node("And", {"before", "near"}, {"seen"});
  w.node("Where", {"seen", w.real("shown", 0), w.real("hidden", -1e9F)}, {"mask"});
  MaskFacts facts = facts_of(w, 1'000);
  EXPECT_TRUE(facts.causal);
  EXPECT_EQ(facts.window, 128);
  // Of a shorter sequence a window hides nothing.
  EXPECT_EQ(facts_of(w, 100).window, 0);
}

TEST(Mask, FindsWindowsOnBothSides) {
  OnnxWriter w = positions();
  w.node("Sub", {"query", "key"}, {"apart"});
  w.node("Abs", {"apart"}, {"distance"});
  w.node("LessOrEqual", {"distance", w.wholes("reach", {64}, true)}, {"mask"});
  const MaskFacts facts = facts_of(w, 1'000, kChoice);
  EXPECT_FALSE(facts.causal);
  EXPECT_EQ(facts.window, 129);
}

TEST(Mask, LetsPaddingPass) {
  OnnxWriter w = positions();
  w.node("Cast", {"attention_mask"}, {"tokens"}, {attribute("to", std::int64_t{1})});
  w.node("Unsqueeze", {"tokens", w.wholes("axes", {1, 2})}, {"wide"});
  w.node("Sub", {w.real("all", 1), "wide"}, {"gone"});
  w.node("Mul", {"gone", w.real("least", -3e38F)}, {"mask"});
  const MaskFacts facts = facts_of(w, 1'000);
  EXPECT_FALSE(facts.causal);
  EXPECT_EQ(facts.window, 0);
}

TEST(Mask, ReadsTriangles) {
  OnnxWriter w = positions();
  w.node("Concat", {"size", "size"}, {"square"}, {attribute("axis", std::int64_t{0})});
  w.node("Unsqueeze", {"length", "axis0"}, {"size"});
  w.node("ConstantOfShape", {"square"}, {"ones"},
         {tensor_attribute("value", tensor_bytes("", 9, {1}, std::string("\1")))});
  w.node("Trilu", {"ones"}, {"mask"}, {attribute("upper", std::int64_t{0})});
  EXPECT_TRUE(facts_of(w, 500, kChoice).causal);
}

// What the file has of a mask: its first and its last row.
TEST(Mask, ReadsConstants) {
  constexpr std::int64_t kSize = 300;
  std::string seen;
  for (std::int64_t row = 0; row < kSize; ++row) {
    for (std::int64_t column = 0; column < kSize; ++column)
      seen += column <= row && column > row - 100 ? '\1' : '\0';
  }
  OnnxWriter w = positions();
  w.tensor(tensor_bytes("mask", 9, {1, 1, kSize, kSize}, seen));
  const MaskFacts facts = facts_of(w, kSize, kChoice);
  EXPECT_TRUE(facts.causal);
  EXPECT_EQ(facts.window, 100);
}

TEST(Mask, TakesWhatNobodyKnowsAsSeen) {
  OnnxWriter w = positions();
  w.node("Strange", {"key"}, {"mask"}, {}, "mine");
  w.declare("mask", 1, {"sequence", "sequence"});
  const MaskFacts facts = facts_of(w, 50);
  EXPECT_FALSE(facts.causal);
}

}  // namespace
}  // namespace nest::model
