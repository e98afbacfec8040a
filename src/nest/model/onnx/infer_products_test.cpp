#include <gtest/gtest.h>

#include "nest/model/onnx/infer_rules.hpp"
#include "nest/model/onnx/test_flow.hpp"
#include "support/message_of.hpp"

namespace nest::model {
namespace {

using namespace test;
using Dims = std::vector<std::int64_t>;

OnnxShape made_of(const std::string& op, const std::vector<Dims>& inputs,
                  const std::vector<std::string>& attributes = {}, const std::string& domain = {}) {
  OnnxWriter w;
  std::vector<std::string> names;
  for (const Dims& dims : inputs) {
    names.push_back("x" + std::to_string(names.size()));
    w.input(names.back(), 1, TestDims(dims.begin(), dims.end()));
  }
  w.node(op, names, {"y"}, attributes, domain);
  w.output("y");
  return TestGraph(w.bytes()).shape("y");
}

TEST(InferProducts, MatMulAndGemm) {
  EXPECT_EQ(made_of("MatMul", {{2, 8, 5, 16}, {16, 3}}), (OnnxShape{2, 8, 5, 3}));
  EXPECT_EQ(made_of("MatMul", {{1, 8, 5, 16}, {2, 1, 16, 5}}), (OnnxShape{2, 8, 5, 5}));
  EXPECT_EQ(made_of("MatMul", {{16}, {16, 3}}), OnnxShape{3});
  EXPECT_EQ(made_of("Gemm", {{5, 16}, {3, 16}}, {attribute("transB", std::int64_t{1})}), (OnnxShape{5, 3}));
  EXPECT_EQ(made_of("FusedMatMul", {{2, 5, 16}, {2, 5, 16}}, {attribute("transB", std::int64_t{1})},
                    "com.microsoft"),
            (OnnxShape{2, 5, 5}));
}

TEST(InferProducts, Einsum) {
  EXPECT_EQ(
      made_of("Einsum", {{2, 8, 5, 16}, {2, 8, 7, 16}}, {text_attribute("equation", "bhqd,bhkd->bhqk")}),
      (OnnxShape{2, 8, 5, 7}));
  EXPECT_EQ(
      message_of([] { made_of("Einsum", {{2, 3}, {4, 5}}, {text_attribute("equation", "ij,jk->ik")}); }),
      "test.onnx: operator 'Einsum' that makes 'y': axes of 3 and 4 do not go together");
}

TEST(InferProducts, Convolutions) {
  const std::vector<std::string> patches{list_attribute("strides", {16, 16})};
  EXPECT_EQ(made_of("Conv", {{2, 3, 224, 224}, {768, 3, 16, 16}}, patches), (OnnxShape{2, 768, 14, 14}));
  const std::vector<std::string> sound{list_attribute("strides", {2}), list_attribute("pads", {1, 1})};
  EXPECT_EQ(made_of("Conv", {{1, 80, 3000}, {512, 80, 3}}, sound), (OnnxShape{1, 512, 1500}));
  EXPECT_EQ(made_of("Conv", {{1, 64, 9}, {64, 1, 4}}, {attribute("group", std::int64_t{64})}),
            (OnnxShape{1, 64, 6}));
  EXPECT_EQ(made_of("MaxPool", {{1, 64, 8, 8}},
                    {list_attribute("kernel_shape", {2, 2}), list_attribute("strides", {2, 2})}),
            (OnnxShape{1, 64, 4, 4}));
  EXPECT_EQ(made_of("GlobalAveragePool", {{1, 64, 8, 8}}), (OnnxShape{1, 64, 1, 1}));
  EXPECT_EQ(message_of([] { made_of("Conv", {{1, 3, 8, 8}, {4, 5, 2, 2}}); }),
            "test.onnx: operator 'Conv' that makes 'y': a kernel of 5 channels for an input of 3");
}

TEST(InferProducts, Attention) {
  EXPECT_EQ(made_of("Attention", {{1, 8, 5, 16}, {1, 2, 7, 16}, {1, 2, 7, 32}}), (OnnxShape{1, 8, 5, 32}));
  EXPECT_EQ(made_of("Attention", {{1, 5, 128}, {1, 7, 32}, {1, 7, 32}},
                    {attribute("q_num_heads", std::int64_t{8}), attribute("kv_num_heads", std::int64_t{2})}),
            (OnnxShape{1, 5, 128}));
  const std::vector<std::string> grouped{attribute("num_heads", std::int64_t{8}),
                                         attribute("kv_num_heads", std::int64_t{2})};
  EXPECT_EQ(made_of("GroupQueryAttention", {{1, 5, 192}}, grouped, "com.microsoft"), (OnnxShape{1, 5, 128}));
  EXPECT_EQ(made_of("MultiHeadAttention", {{1, 5, 64}, {1, 7, 64}, {1, 7, 64}}, {}, "com.microsoft"),
            (OnnxShape{1, 5, 64}));
  EXPECT_EQ(made_of("Attention", {{1, 5, 64}, {64, 192}}, {}, "com.microsoft"), (OnnxShape{1, 5, 64}));
  EXPECT_EQ(
      message_of([&] { made_of("GroupQueryAttention", {{1, 5, 190}}, grouped, "com.microsoft"); }),
      "test.onnx: operator 'GroupQueryAttention' that makes 'y': its heads do not divide what it reads");
}

TEST(InferProducts, PackedWeights) {
  EXPECT_EQ(made_of("MatMulNBits", {{1, 5, 64}},
                    {attribute("K", std::int64_t{64}), attribute("N", std::int64_t{7})}, "com.microsoft"),
            (OnnxShape{1, 5, 7}));
}

}  // namespace
}  // namespace nest::model
