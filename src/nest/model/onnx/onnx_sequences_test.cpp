#include "nest/model/onnx/onnx_sequences.hpp"

#include <gtest/gtest.h>

#include "nest/model/onnx/onnx_file.hpp"
#include "nest/model/onnx/test_onnx.hpp"

namespace nest::model {
namespace {

using namespace test;

TEST(OnnxSequences, BecomeSplits) {
  OnnxWriter w;
  w.input("x", 1, {std::int64_t{2}, std::int64_t{12}});
  w.wholes("four", {4}, true);
  w.wholes("zero", {0}, true);
  w.wholes("two", {2}, true);
  w.node("SplitToSequence", {"x", "four"}, {"list"}, {attribute("axis", std::int64_t{1})});
  w.node("SequenceAt", {"list", "zero"}, {"a"});
  w.node("SequenceAt", {"list", "two"}, {"c"});
  w.node("SequenceAt", {"list", "two"}, {"again"});
  w.node("Sum", {"a", "c", "again"}, {"y"});
  w.output("y");
  ByteSource source = w.source();
  const OnnxGraph graph = read_onnx_graph(source);
  ASSERT_EQ(graph.nodes.size(), 3U);
  EXPECT_EQ(graph.nodes[0].op, "Split");
  ASSERT_EQ(graph.nodes[0].outputs.size(), 3U);
  EXPECT_EQ(graph.values[graph.nodes[0].outputs[0]], "a");
  EXPECT_EQ(graph.values[graph.nodes[0].outputs[2]], "c");
  EXPECT_EQ(graph.nodes[1].op, "Identity");
}

// A list of which something else is made stays what it is.
TEST(OnnxSequences, StayWhereTheyAreUsedOtherwise) {
  const std::vector<OnnxNodeText> nodes{{"SplitToSequence", "", {"x"}, {"list"}, {}},
                                        {"SequenceLength", "", {"list"}, {"n"}, {}}};
  const std::vector<OnnxNodeText> out = without_sequences(nodes, {});
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].op, "SplitToSequence");
}

}  // namespace
}  // namespace nest::model
