#include "nest/estimate/operators/operator_products.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/estimate/operators/test_kernel_uses.hpp"
#include "nest/estimate/operators/test_operator_layers.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"

namespace nest::estimate {
namespace {

using enum KernelKind;
using testing::ElementsAre;

using test::find;
using test::kinds;

TEST(OperatorProducts, EightBitProductsQuantizeTheirOperands) {
  const LayerType layer = test::shard_block(test::test_model("llama3-8b"), 1, 1, 1024);
  const Operator& down = find(layer, "down");
  // Both operands of each product (torchao), or inputs and gradients once, and weights once a step.
  const auto each = kernels_of(layer, down, {.precision = Precision::fp8});
  EXPECT_THAT(kinds(each, Pass::forward), ElementsAre(fused, fused, fp8_matmul));
  EXPECT_THAT(kinds(each, Pass::backward_weight), ElementsAre(fused, fused, fp8_matmul));
  const auto once = kernels_of(layer, down, {.precision = Precision::fp8, .cast_each_use = false});
  EXPECT_THAT(kinds(once, Pass::forward), ElementsAre(fused, fp8_matmul));
  EXPECT_THAT(kinds(once, Pass::backward_input), ElementsAre(fused, fp8_matmul));
  EXPECT_THAT(kinds(once, Pass::backward_weight), ElementsAre(fp8_matmul));
  // 1,024 tokens of 14,336 values: read twice in 16 bits, written along rows and columns in 8.
  EXPECT_EQ(once[0].call.sizes[0], 1024 * 14336 * (2 + 2 + 1 + 1));
}

TEST(OperatorProducts, EveryPrecisionHasItsProducts) {
  const LayerType layer = test::shard_block(test::test_model("llama3-8b"), 1, 1, 1024);
  const Operator& down = find(layer, "down");
  const auto kind = [&](Precision p) {
    return kinds(kernels_of(layer, down, {.precision = p, .cast_each_use = false}), Pass::backward_weight)
        .front();
  };
  EXPECT_EQ(kind(Precision::bf16), matmul_weight);
  EXPECT_EQ(kind(Precision::fp8_block), fp8_block_matmul);
  EXPECT_EQ(kind(Precision::mxfp8), fp8_block_matmul);
  EXPECT_EQ(kind(Precision::nvfp4), fp4_matmul);
  const Model model = build_model(zoo_model("llama3-8b"), {.sequence = 1024});
  const LayerType& head = model.type_of(LayerId(static_cast<std::int32_t>(model.layers.size()) - 1));
  EXPECT_THAT(kinds(kernels_of(head, find(head, "logits"), {.precision = Precision::fp8}), Pass::forward),
              ElementsAre(matmul_forward));
}

TEST(OperatorProducts, GroupedProductsGainLess) {
  const DeviceRates h200 = device_rates(find_accelerator("h200"));
  EXPECT_EQ(grouped_share(h200, Precision::bf16), 1);
  EXPECT_NEAR(grouped_share(h200, Precision::fp8), 1 / 1.55, 0.01);  // as measured
}

}  // namespace
}  // namespace nest::estimate
