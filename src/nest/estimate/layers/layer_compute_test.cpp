#include "nest/estimate/layers/layer_compute.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"
#include "nest/strategies/registry.hpp"

namespace nest::estimate {
namespace {

using enum CollectivePass;

class LlamaCompute : public ::testing::Test {
 protected:
  [[nodiscard]] LayerCompute compute(const Strategy& strategy,
                                     RecomputePolicy policy = RecomputePolicy::none) const {
    return layer_compute(shard_layer(model_.type_of(LayerId(1)), strategy), policy, times_);
  }

  Model model_ = build_model(zoo_model("llama3.1-70b"), {.micro_batch = 1, .sequence = 4096});
  OperatorTimes times_{find_accelerator("h200")};
};

TEST_F(LlamaCompute, WithoutAStrategyThereIsNothingToSend) {
  EXPECT_TRUE(compute({}).collectives.empty());
}

// With sequence parallelism: gather, reduce-scatter around attention and around the MLP; their mirror image
// backward, with the inputs of the products gathered once more; and all of the forward pass again.
TEST_F(LlamaCompute, EqualCollectivesAreOneEntry) {
  const LayerCompute c = compute({.tensor = 8, .sequence_parallel = true}, RecomputePolicy::full);
  ASSERT_EQ(c.collectives.size(), 2U);
  for (const LayerCollective& one : c.collectives) {
    const bool gathers = one.shape.forward == CollectiveKind::all_gather;
    EXPECT_EQ(one.count, (std::array<std::int64_t, 3>{2, gathers ? 4 : 2, 2}));
    EXPECT_EQ(one.shape.forward_bytes.value, 4096 * 8192 * 2);
    EXPECT_EQ(one.shape.backward, CollectiveKind::none);
    EXPECT_FALSE(one.is_ring());
  }
  EXPECT_NE(c.collectives[0].shape.forward, c.collectives[1].shape.forward);
}

// Inputs of products are cast before they are gathered, forward, backward and once more; so are gradients of what
// the products of rows made. Sums stay in 16 bits.
TEST_F(LlamaCompute, LowPrecisionsGatherWhatTheyTake) {
  const OperatorTimes low(times_.shared_kernels(), {.precision = Precision::fp8, .low_gathers = true});
  const ShardedLayer layer =
      shard_layer(model_.type_of(LayerId(1)), {.tensor = 8, .sequence_parallel = true});
  for (const LayerCollective& one : layer_compute(layer, RecomputePolicy::full, low).collectives) {
    const bool gathers = one.shape.forward == CollectiveKind::all_gather;
    EXPECT_EQ(one.shape.forward_bytes.value, 4096 * 8192 * (gathers ? 1 : 2));
  }
  // The head's products stay in 16 bits, and what they gather too.
  const ShardedLayer head =
      shard_layer(model_.type_of(LayerId(81)), {.tensor = 8, .sequence_parallel = true});
  std::int64_t gathers = 0;
  for (const LayerCollective& one : layer_compute(head, RecomputePolicy::none, low).collectives) {
    if (one.shape.forward != CollectiveKind::all_gather) continue;
    EXPECT_EQ(one.shape.forward_bytes.value, 4096 * 8192 * 2);
    ++gathers;
  }
  EXPECT_GT(gathers, 0);
}

TEST_F(LlamaCompute, WhatIsNotRecomputedIsNotSentAgain) {
  const LayerCompute c = compute({.tensor = 8, .sequence_parallel = true}, RecomputePolicy::selective);
  for (const LayerCollective& one : c.collectives) EXPECT_EQ(one.count_of(again), 0);
  EXPECT_GT(c.recompute.value, 0);
}

// Keys and values go round 3 hops, each beside one of 4 steps; backward their gradients go with them.
TEST_F(LlamaCompute, ARingKnowsTheStepBesideItsHops) {
  const Strategy strategy{.context = 4};
  const LayerCompute c = compute(strategy, RecomputePolicy::selective);
  const ShardedLayer sharded = shard_layer(model_.type_of(LayerId(1)), strategy);
  const auto core = std::find_if(sharded.layer.operators.begin(), sharded.layer.operators.end(),
                                 [](const Operator& op) { return op.kind == OperatorKind::attention; });
  const OperatorTime attention = times_.time(sharded.layer, *core);
  ASSERT_EQ(c.collectives.size(), 2U);
  const LayerCollective& keys = c.collectives[0];
  const LayerCollective& gradients = c.collectives[1];
  EXPECT_TRUE(keys.is_ring() && gradients.is_ring());
  EXPECT_EQ(keys.shape.repeats, 3);
  EXPECT_EQ(gradients.shape.forward_bytes.value, 2 * keys.shape.forward_bytes.value);
  EXPECT_EQ(keys.count, (std::array<std::int64_t, 3>{1, 0, 1}));
  EXPECT_EQ(gradients.count, (std::array<std::int64_t, 3>{0, 1, 0}));
  EXPECT_DOUBLE_EQ(keys.step_of(forward).value, attention.forward.value / 4);
  EXPECT_DOUBLE_EQ(keys.step_of(again).value, attention.forward.value / 4);
  EXPECT_DOUBLE_EQ(gradients.step_of(backward).value, attention.backward().value / 4);
}

// Whatever the model's attention looks like.
TEST(LayerCompute, EveryRingHasAStep) {
  const OperatorTimes times(find_accelerator("h200"));
  for (const char* name : {"llama3.1-8b", "deepseek-v3", "t5-large", "mixtral-8x7b"}) {
    const Model model = build_model(zoo_model(name));
    const Strategy strategy{.tensor = 2, .sequence_parallel = true, .context = 2};
    int rings = 0;
    for (const LayerType& type : model.types) {
      for (const LayerCollective& c :
           layer_compute(shard_layer(type, strategy), RecomputePolicy::full, times).collectives) {
        if (!c.is_ring()) continue;
        ++rings;
        for (const CollectivePass pass : {forward, backward, again}) {
          EXPECT_EQ(c.count_of(pass) > 0, c.step_of(pass).value > 0) << name;
        }
      }
    }
    EXPECT_GT(rings, 0) << name;
  }
}

// A layer of Megatron's 22B with tensor 8 on A100s: slower without a flash kernel; recomputing the core alone
// frees the scores at a fraction of what recomputing all costs.
TEST(LayerCompute, OldAttentionTakesLongerAndIsWorthRecomputing) {
  const OperatorTimes times(find_accelerator("a100-80"), {.fused_projections = true});
  const Strategy strategy{.tensor = 8, .sequence_parallel = true};
  const auto layer = [&](bool flash, RecomputePolicy policy) {
    const Model model = build_model(zoo_model("megatron-22b"), {.micro_batch = 4, .flash = flash});
    return layer_compute(shard_layer(model.type_of(LayerId(1)), strategy), policy, times);
  };
  const LayerCompute flash = layer(true, RecomputePolicy::none);
  const LayerCompute old = layer(false, RecomputePolicy::none);
  EXPECT_GT(old.forward.value, 1.1 * flash.forward.value);
  EXPECT_GT(old.backward.value, 1.05 * flash.backward.value);
  const LayerCompute selective = layer(false, RecomputePolicy::selective);
  const LayerCompute full = layer(false, RecomputePolicy::full);
  EXPECT_LT(selective.recompute.value, 0.3 * full.recompute.value);
  // 2 bytes for each of b * a/t * s * s scores go; they come back while the layer's backward pass runs.
  const std::int64_t scores = std::int64_t{4} * 8 * 2048 * 2048;
  EXPECT_EQ(old.stash.value - selective.stash.value, 2 * scores);
  EXPECT_EQ(selective.transient.value - old.transient.value, 2 * scores);
  EXPECT_GE(old.transient.value, 4 * scores);
}

}  // namespace
}  // namespace nest::estimate
