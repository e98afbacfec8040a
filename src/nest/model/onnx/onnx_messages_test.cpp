#include "nest/model/onnx/onnx_messages.hpp"

#include <gtest/gtest.h>

#include "nest/model/onnx/test_onnx.hpp"
#include "support/message_of.hpp"

namespace nest::model {
namespace {

using namespace test;

OnnxTensor tensor_of(const std::string& bytes) {
  ByteSource source = ByteSource::text("x.onnx", bytes);
  return read_onnx_tensor(WireReader(source));
}

TEST(OnnxMessages, ReadSmallNumbers) {
  EXPECT_EQ(tensor_of(tensor_bytes("s", 7, {3}, raw_wholes({-1, 32, 64}))).numbers->wholes,
            (std::vector<std::int64_t>{-1, 32, 64}));
  EXPECT_EQ(tensor_of(tensor_bytes("s", 1, {}, raw_reals({2}))).numbers->reals, std::vector<double>{2});
  EXPECT_EQ(tensor_of(tensor_bytes("s", 9, {2}, std::string("\1\0", 2))).numbers->wholes,
            (std::vector<std::int64_t>{1, 0}));
  // In the fields of their types: a list of 64-bit numbers, and a float of 16 bits as a whole number (1.5).
  EXPECT_EQ(tensor_of(tensor_bytes("s", 7, {2}) + bytes_field(7, varint(4) + varint(5))).numbers->wholes,
            (std::vector<std::int64_t>{4, 5}));
  EXPECT_EQ(tensor_of(tensor_bytes("s", 10, {}) + whole_field(5, 0x3E00)).numbers->reals,
            std::vector<double>{1.5});
  EXPECT_EQ(tensor_of(tensor_bytes("s", 16, {}) + whole_field(5, 0x3FC0)).numbers->reals,
            std::vector<double>{1.5});
}

TEST(OnnxMessages, ReadNoWeights) {
  EXPECT_FALSE(tensor_of(tensor_bytes("w", 1, {5, 5}, std::string(100, 'x'))).numbers.has_value());
  // A matrix is no mask, even if it is square.
  EXPECT_FALSE(tensor_of(tensor_bytes("w", 1, {64, 64}, std::string(64 * 64 * 4, '\0'))).numbers.has_value());
  // Contents in another file.
  EXPECT_FALSE(
      tensor_of(tensor_bytes("w", 7, {1}, raw_wholes({3})) + whole_field(14, 1)).numbers.has_value());
  // Fewer contents than elements.
  EXPECT_FALSE(tensor_of(tensor_bytes("w", 7, {4}, raw_wholes({3}))).numbers.has_value());
}

TEST(OnnxMessages, ReadTwoRowsOfMasks) {
  constexpr std::int64_t kSize = 300;
  std::string lower;
  for (std::int64_t row = 0; row < kSize; ++row) {
    for (std::int64_t column = 0; column < kSize; ++column) lower += column <= row ? '\1' : '\0';
  }
  const OnnxTensor mask = tensor_of(tensor_bytes("mask", 9, {1, 1, kSize, kSize}, lower));
  ASSERT_TRUE(mask.two_rows);
  ASSERT_EQ(mask.numbers->wholes.size(), 2 * kSize);
  EXPECT_EQ(mask.numbers->wholes[0], 1);
  EXPECT_EQ(mask.numbers->wholes[1], 0);
  EXPECT_EQ(mask.numbers->wholes.back(), 1);
}

TEST(OnnxMessages, RefuseSizesThatNoModelHas) {
  EXPECT_EQ(message_of([] { tensor_of(tensor_bytes("w", 1, {-5})); }),
            "x.onnx: tensor 'w': an axis of -5 elements; sizes are 0 to 1,000,000,000,000");
  EXPECT_EQ(message_of([] { tensor_of(tensor_bytes("w", 1, {1'000'000'000, 1'000'000'000})); }),
            "x.onnx: tensor 'w': more than 10^15 elements, which no model has");
  EXPECT_EQ(message_of([] { tensor_of(tensor_bytes("w", 1, std::vector<std::int64_t>(65, 1))); }),
            "x.onnx: tensor 'w': more than 64 axes");
}

TEST(OnnxMessages, ReadNodes) {
  ByteSource source = ByteSource::text(
      "x.onnx", node_bytes("Gemm", {"a", "", "c"}, {"y"},
                           {attribute("transB", std::int64_t{1}), text_attribute("mode", "x"),
                            bytes_field(1, "body") + bytes_field(6, "graph")},
                           "ai.onnx"));
  const OnnxNodeText node = read_onnx_node(WireReader(source));
  EXPECT_EQ(node.op, "Gemm");
  EXPECT_EQ(node.domain, "");
  EXPECT_EQ(node.inputs, (std::vector<std::string>{"a", "", "c"}));
  ASSERT_EQ(node.attributes.size(), 3U);
  EXPECT_EQ(node.attributes[0].whole, 1);
  EXPECT_EQ(node.attributes[1].text, "x");
  EXPECT_TRUE(node.attributes[2].graph);
}

TEST(OnnxMessages, ReadDeclaredShapes) {
  ByteSource source = ByteSource::text("x.onnx", declared_bytes("ids", 7, {"batch", std::int64_t{128}}));
  const OnnxDeclaredText text = read_onnx_declared(WireReader(source));
  EXPECT_EQ(text.name, "ids");
  EXPECT_EQ(text.declared.type, 7);
  ASSERT_EQ(text.declared.dims.size(), 2U);
  EXPECT_EQ(text.declared.dims[0].name, "batch");
  EXPECT_EQ(text.declared.dims[1].size, 128);
}

TEST(OnnxMessages, QuoteNames) {
  EXPECT_EQ(quoted_name("x"), "'x'");
  EXPECT_EQ(quoted_name("a\nb\x1b"), "'a?b?'");
  EXPECT_EQ(quoted_name("\xff\xfe"),
            "'?"
            "?'");
  EXPECT_EQ(quoted_name(std::string(100, 'n')), "'" + std::string(60, 'n') + "...'");
}

}  // namespace
}  // namespace nest::model
