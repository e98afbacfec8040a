#include "nest/strategies/recompute.hpp"

#include <gtest/gtest.h>

#include "nest/strategies/test_layers.hpp"

namespace nest {
namespace {

std::vector<std::string> names(const LayerType& layer, const std::vector<std::size_t>& operators) {
  std::vector<std::string> out;
  out.reserve(operators.size());
  for (const std::size_t i : operators) out.push_back(layer.operators[i].name);
  return out;
}

TEST(Recompute, NoneKeepsWhatOperatorsKeep) {
  const Model m = small_model("llama3.1-8b");
  const ShardedLayer s = shard_layer(block_with(m, "qkv"), {.tensor = 4});
  const RecomputeCost cost = recompute_cost(s, RecomputePolicy::none);
  EXPECT_EQ(cost.stash, s.layer.stash_bytes());
  EXPECT_TRUE(cost.operators.empty());
  EXPECT_EQ(cost.transient.value, 0);
}

// With a fused kernel the core keeps one fp32 per query and head beyond its inputs and result.
TEST(Recompute, SelectiveDropsWhatTheCoreAloneKeeps) {
  const Model m = small_model("llama3.1-8b");
  const ShardedLayer s = shard_layer(block_with(m, "qkv"), {.tensor = 4});
  const RecomputeCost cost = recompute_cost(s, RecomputePolicy::selective);
  const std::int64_t log_sums = 2 * 64 * 8 * 4;
  EXPECT_EQ(cost.stash.value, s.layer.stash_bytes().value - log_sums);
  EXPECT_EQ(cost.transient.value, log_sums);
  EXPECT_EQ(names(s.layer, cost.operators), std::vector<std::string>{"attention"});
}

// The collectives around the core belong to it: they run again, and only what goes into them stays.
TEST(Recompute, SelectiveRepeatsContextCollectives) {
  const Model m = small_model("llama3.1-8b");
  const Strategy trade{.context = 4, .context_method = ContextMethod::all_to_all};
  const ShardedLayer s = shard_layer(block_with(m, "qkv"), trade);
  const RecomputeCost cost = recompute_cost(s, RecomputePolicy::selective);
  EXPECT_EQ(names(s.layer, cost.operators),
            (std::vector<std::string>{"attention.scatter_heads", "attention", "attention.gather_heads"}));
  // The core's own result and log-sums go; queries, keys and values stay, in their other layout.
  EXPECT_EQ(cost.stash.value, s.layer.stash_bytes().value - 2 * 64 * 8 * 128 * 2 - 2 * 64 * 8 * 4);
  const ShardedLayer ring = shard_layer(block_with(m, "qkv"), {.context = 4});
  EXPECT_EQ(names(ring.layer, recompute_cost(ring, RecomputePolicy::selective).operators),
            (std::vector<std::string>{"attention.ring", "attention"}));
}

TEST(Recompute, FullKeepsTheInput) {
  const Model m = small_model("llama3.1-8b");
  const ShardedLayer s = shard_layer(block_with(m, "qkv"), {.tensor = 4, .sequence_parallel = true});
  const RecomputeCost cost = recompute_cost(s, RecomputePolicy::full);
  EXPECT_EQ(cost.stash.value, 2 * 16 * 4096 * 2);
  EXPECT_EQ(cost.stash + cost.transient, s.layer.stash_bytes());  // the first norm keeps the input as well
  EXPECT_EQ(cost.operators.size(), s.layer.operators.size());
  const Model t5 = small_model("t5-11b");
  const ShardedLayer decoder = shard_layer(block_with(t5, "cross_kv"), {});
  EXPECT_EQ(recompute_cost(decoder, RecomputePolicy::full).stash.value,
            2 * 2 * 64 * 1024 * 2);  // and the memory
}

TEST(Recompute, EmbeddingsAndHeadsDoNot) {
  const Model m = small_model("llama3.1-8b");
  const ShardedLayer head = shard_layer(m.types.back(), {});
  EXPECT_FALSE(can_recompute(head.layer));
  EXPECT_EQ(recompute_cost(head, RecomputePolicy::full).stash, head.layer.stash_bytes());
}

TEST(Recompute, OnTheFirstLayersOfAStage) {
  const Recompute two{RecomputePolicy::full, 2};
  EXPECT_EQ(two.of_layer(1), RecomputePolicy::full);
  EXPECT_EQ(two.of_layer(2), RecomputePolicy::none);
  EXPECT_EQ((Recompute{RecomputePolicy::full}).of_layer(90), RecomputePolicy::full);
  EXPECT_EQ((Recompute{RecomputePolicy::selective}).of_layer(90), RecomputePolicy::selective);
  EXPECT_EQ(spell(two), "full on 2 layers");
  EXPECT_EQ(spell({RecomputePolicy::selective}), "selective");
}

}  // namespace
}  // namespace nest
