#include "nest/model/graph/layer_builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nest::model {
namespace {

const Dim kHidden{Axis::hidden, 8};
const Shape kTokens{{Axis::batch, 1}, {Axis::sequence, 4}, kHidden};

TEST(LayerBuilder, WeightsSideBySideAreOneOperator) {
  LayerBuilder b("x");
  const TensorIndex x = b.input("x", kTokens);
  const auto made =
      b.matmul("gate_up", x, {kHidden},
               std::vector<Weight>{{"gate", {{Axis::ffn, 16}}}, {"up", {{Axis::ffn, 16}}, true}});
  const LayerType layer = b.finish({made[0], made[1]});
  ASSERT_EQ(layer.operators.size(), 1U);
  EXPECT_EQ(layer.parameters(), 8 * 16 * 2 + 16);
  EXPECT_DOUBLE_EQ(layer.forward_flops().value, 2.0 * 4 * 8 * 16 * 2);
  EXPECT_THAT(layer.operators[0].keeps, ::testing::ElementsAre(x));  // one input, kept once for both weights
}

TEST(LayerBuilder, ASharedWeightIsNotCountedButHeld) {
  LayerBuilder b("head");
  const TensorIndex x = b.input("x", kTokens);
  const TensorIndex y =
      b.matmul("logits", x, {kHidden}, Weight{"logits", {{Axis::vocab, 100}}, false, Role::shared});
  const LayerType layer = b.finish({y});
  EXPECT_EQ(layer.parameters(), 0);
  EXPECT_EQ(layer.shared_parameters(), 800);
  EXPECT_EQ(layer.bytes_read(layer.operators[0]).value, (4 * 8 + 800) * 2);
}

TEST(LayerBuilder, NormsKeepTheirInputAndStatistics) {
  LayerBuilder b("x");
  const TensorIndex x = b.input("x", kTokens);
  const TensorIndex y = b.norm("n", x, NormKind::layer);
  const LayerType layer = b.finish({y});
  EXPECT_EQ(layer.parameters(), 16);
  EXPECT_EQ(layer.stash_bytes().value, 4 * 8 * 2 + 2 * 4 * 4);
}

// 32 bits of the input and 16 of what the weight scales, in place of the input itself.
TEST(LayerBuilder, NormsThatAreWrittenOutKeepMore) {
  for (const bool plain : {false, true}) {
    LayerBuilder b("x", {.plain_norms = plain});
    const TensorIndex x = b.input("x", kTokens);
    const TensorIndex y = b.norm("n", x, NormKind::rms);
    EXPECT_EQ(b.finish({y}).stash_bytes().value, 4 * 8 * (plain ? 4 + 2 : 2) + 4 * 4) << plain;
  }
}

TEST(LayerBuilder, ApartParametersAreCountedApart) {
  LayerBuilder b("x");
  const TensorIndex x = b.input("x", kTokens);
  b.set_apart(true);
  const TensorIndex y = b.norm("n", x, NormKind::rms);
  const LayerType layer = b.finish({y});
  EXPECT_EQ(layer.parameters(), 0);
  EXPECT_EQ(layer.apart_parameters(), 8);
}

// Per head and pair of positions: the softmax's result 2 bytes, dropout's mask 1 and its result 2.
TEST(LayerBuilder, AttentionWithoutAFlashKernelKeepsItsScores) {
  const Shape heads{{Axis::batch, 2}, {Axis::sequence, 4}, {Axis::heads, 3}, {Axis::head_dim, 8}};
  const auto kept = [&](LayerStyle style) {
    LayerBuilder b("x", style);
    const TensorIndex q = b.input("q", heads);
    const TensorIndex k = b.input("k", heads);
    const TensorIndex v = b.input("v", heads);
    const TensorIndex y = b.attention("core", q, k, v, {.causal = true});
    return b.finish({y}).stash_bytes().value;
  };
  const std::int64_t one = 2 * 4 * 3 * 8 * 2;
  const std::int64_t scores = 2 * 3 * 4 * 4;
  EXPECT_EQ(kept({}), 4 * one + 2 * 3 * 4 * 4);  // its result and one fp32 for each query and head
  EXPECT_EQ(kept({.flash = false}), 3 * one + 2 * scores);
  EXPECT_EQ(kept({.flash = false, .dropout = true}), 3 * one + 5 * scores);
  EXPECT_EQ(kept({.dropout = true}), kept({}));  // a flash kernel draws its mask again
}

TEST(LayerBuilder, WhatIsAddedToTheResidualStreamIsDropped) {
  for (const bool dropout : {false, true}) {
    LayerBuilder b("x", {.dropout = dropout});
    const TensorIndex x = b.input("x", kTokens);
    const TensorIndex y = b.residual("add", {x, x, x});
    EXPECT_EQ(b.finish({y}).stash_bytes().value, dropout ? 2 * 4 * 8 : 0);
  }
}

}  // namespace
}  // namespace nest::model
