#include "nest/model/onnx/onnx_sizes.hpp"

#include <gtest/gtest.h>

#include "nest/model/onnx/onnx_file.hpp"
#include "nest/model/onnx/test_onnx.hpp"
#include "support/message_of.hpp"

namespace nest::model {
namespace {

using namespace test;
using Shape64 = std::vector<std::int64_t>;

OnnxGraph graph_of(const std::vector<std::tuple<std::string, int, TestDims>>& inputs) {
  OnnxWriter w;
  for (const auto& [name, type, dims] : inputs) w.input(name, type, dims);
  w.node("Identity", {std::get<0>(inputs.front())}, {"y"});
  w.output("y");
  ByteSource source = w.source();
  return read_onnx_graph(source);
}

TEST(OnnxSizes, TellBatchAndSequence) {
  const OnnxGraph graph =
      graph_of({{"input_ids", 7, {"s10", "s21"}},
                {"attention_mask", 7, {"batch_size", "past_sequence_length + 1"}},
                {"past_key_values.0.key", 1, {"s10", std::int64_t{8}, "past", std::int64_t{64}}}});
  const OnnxSizes sizes(graph, {});
  EXPECT_TRUE(sizes.has_sequence());
  EXPECT_EQ(sizes.fixed_batch(), std::nullopt);
  EXPECT_EQ(sizes.shape(0, {3, 40}), (Shape64{3, 40}));
  EXPECT_EQ(sizes.shape(1, {3, 40}), (Shape64{3, 40}));
  EXPECT_EQ(sizes.shape(2, {3, 40}), (Shape64{3, 8, 0, 64}));
}

TEST(OnnxSizes, MayBeFixed) {
  const OnnxSizes sizes(graph_of({{"input_ids", 7, {std::int64_t{4}, std::int64_t{128}}}}), {});
  EXPECT_FALSE(sizes.has_sequence());
  EXPECT_EQ(sizes.fixed_batch(), 4);
  EXPECT_EQ(sizes.shape(0, {9, 9}), (Shape64{4, 128}));
}

TEST(OnnxSizes, AskForWhatIsNeither) {
  const OnnxGraph graph =
      graph_of({{"pixel_values", 1, {"batch", std::int64_t{3}, "height", std::int64_t{64}}}});
  EXPECT_EQ(message_of([&] { const OnnxSizes sizes(graph, {}); }),
            "test.onnx: input 'pixel_values': 'height' has no size, and is neither the batch nor the "
            "sequence; say it "
            "behind the file's name: model.onnx?height=1500");
  const OnnxSizes sizes(graph, {{"height", 32}});
  EXPECT_EQ(sizes.shape(0, {2, 1}), (Shape64{2, 3, 32, 64}));
  const OnnxGraph unnamed = graph_of({{"pixel_values", 1, {"batch", std::int64_t{3}, "", std::int64_t{64}}}});
  EXPECT_EQ(message_of([&] { const OnnxSizes other(unnamed, {}); }),
            "test.onnx: input 'pixel_values': axis 2 has no size, and is neither the batch nor the sequence; "
            "export the "
            "model with a size for it");
}

TEST(OnnxSizes, EvaluateExpressions) {
  const std::map<std::string, std::int64_t> names{{"s10", 2}, {"s12", 48}, {"s86", 2}};
  EXPECT_EQ(evaluate_size("((s12*s86)//s10)", names), 48);
  EXPECT_EQ(evaluate_size("s12 + 1", names), 49);
  EXPECT_EQ(evaluate_size("2*s12 - 16", names), 80);
  // 48^7 is below the longest axis of 10^12 elements, 48^8 above.
  EXPECT_EQ(evaluate_size("s12*s12*s12*s12*s12*s12*s12", names), 587'068'342'272);
  for (const char* bad : {"", "s99", "s12//0", "s12 +", "(s12", "Min(128, s12)", "s12 - 100",
                          "s12*s12*s12*s12*s12*s12*s12*s12"})
    EXPECT_EQ(evaluate_size(bad, names), std::nullopt) << bad;
  EXPECT_EQ(evaluate_size(std::string(300, '('), names), std::nullopt);
}

TEST(OnnxSizes, ReadDeclaredShapes) {
  const OnnxGraph graph = graph_of({{"input_ids", 7, {"b", "s"}}});
  const OnnxSizes sizes(graph, {});
  OnnxDeclared declared;
  declared.has_shape = true;
  declared.dims = {{-1, "b"}, {-1, "2*s"}, {64, ""}};
  EXPECT_EQ(sizes.shape(declared, {1, 10}), (Shape64{1, 20, 64}));
  declared.dims.push_back({-1, "unknown"});
  EXPECT_EQ(sizes.shape(declared, {1, 10}), std::nullopt);
}

}  // namespace
}  // namespace nest::model
