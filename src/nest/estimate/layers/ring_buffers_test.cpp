#include "nest/estimate/layers/ring_buffers.hpp"

#include <gtest/gtest.h>

#include "nest/estimate/layers/layer_compute.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"
#include "nest/strategies/registry.hpp"

namespace nest::estimate {
namespace {

LayerType block_of(const Strategy& strategy) {
  const Model model = build_model(zoo_model("llama3.1-8b"), {.sequence = 1 << 16});
  return shard_layer(model.type_of(LayerId(1)), strategy).layer;
}

// 8 ranks have 8,192 tokens each: keys and values of 8 heads of 128 in 16 bits are 32 MiB, results of 32 heads 64 MiB.
TEST(RingBuffers, HoldWhatAllStepsReadAndMake) {
  constexpr std::int64_t kMiB = 1 << 20;
  const LayerType ring = block_of({.context = 8});
  EXPECT_EQ(ring_buffers(ring, false).value, (8 * 32 + 10 * 64) * kMiB);
  EXPECT_EQ(ring_buffers(ring, true).value, (8 * 32 + 3 * 64) * kMiB);
  // Half the ranks on the ring: each has as many values of fewer heads, and half as many steps.
  const LayerType hybrid =
      block_of({.context = 8, .context_method = ContextMethod::hybrid, .context_inner = 2});
  EXPECT_EQ(ring_buffers(hybrid, false).value, (4 * 32 + 6 * 64) * kMiB);
  // Two buffers of keys, values and their gradients are more than two steps.
  EXPECT_EQ(ring_buffers(block_of({.context = 2}), true).value, 4 * (5 * 32 + 3 * 64) * kMiB);
  EXPECT_EQ(ring_buffers(block_of({.context = 8, .context_method = ContextMethod::all_to_all}), false).value,
            0);
  EXPECT_EQ(ring_buffers(block_of({}), false).value, 0);
}

TEST(RingBuffers, AreInUseBesideTheStash) {
  const Accelerator h200 = find_accelerator("h200");
  const ShardedLayer ring = [] {
    const Model model = build_model(zoo_model("llama3.1-8b"), {.sequence = 1 << 16});
    return shard_layer(model.type_of(LayerId(1)), {.context = 8});
  }();
  const OperatorTimes kept(h200, {});
  const OperatorTimes merged(h200, {.ring_merges_steps = true});
  const Bytes all = layer_compute(ring, RecomputePolicy::none, kept).transient;
  EXPECT_EQ(all, ring_buffers(ring.layer, false));
  EXPECT_LT(layer_compute(ring, RecomputePolicy::none, merged).transient, all);
}

}  // namespace
}  // namespace nest::estimate
