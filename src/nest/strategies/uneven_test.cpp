#include "nest/strategies/uneven.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/strategies/test_layers.hpp"

namespace nest::strategies {
namespace {

std::vector<std::string> lines(const ShardedLayer& s) {
  std::vector<std::string> out;
  out.reserve(s.replicated.size());
  for (const Replicated& r : s.replicated)
    out.push_back((r.parameter ? "parameter " : "") + r.name + ": " + r.reason);
  return out;
}

TEST(Uneven, EverythingIsListedWithItsReason) {
  const Model m = small_model("llama3.1-70b");
  EXPECT_THAT(
      lines(shard_layer(block_with(m, "qkv"), {.tensor = 16})),
      testing::ElementsAre("qkv: fewer KV heads than tensor ranks", "parameter attention_norm.weight: norm",
                           "parameter qkv.k.weight: fewer KV heads than tensor ranks",
                           "parameter qkv.v.weight: fewer KV heads than tensor ranks",
                           "parameter ffn_norm.weight: norm"));
  EXPECT_THAT(lines(shard_layer(m.types.back(), {.tensor = 16})),
              testing::ElementsAre("logits: padded vocabulary", "parameter final_norm.weight: norm",
                                   "parameter logits.weight: padded vocabulary"));
}

TEST(Uneven, ReasonsOfOtherLayers) {
  const Model mixtral = small_model("mixtral-8x7b");
  EXPECT_THAT(lines(shard_layer(block_with(mixtral, "router"), {.tensor = 2})),
              testing::IsSupersetOf({"router: router", "parameter router.weight: router"}));
  const Model bert = small_model("bert-large");
  EXPECT_THAT(
      lines(shard_layer(bert.types.back(), {.tensor = 2, .context = 2})),
      testing::IsSupersetOf({"pooler: one position of the sequence", "mlm_transform: no axis to split"}));
}

// Called by hand: half of the columns on each of two devices, and rows that were not split.
TEST(Uneven, ComparesWithTheWhole) {
  const Model m = small_model("llama3.1-8b");
  const LayerType& whole = block_with(m, "qkv");
  ShardedLayer s{whole, {.tensor = 2}, {}, {}, {}};
  s.parameters.push_back({operator_named(whole, "down").parameters[0]});
  s.layer.tensors[s.parameters[0].tensor].shape[0].size /= 2;
  s.parameters.push_back({operator_named(whole, "ffn_norm").parameters[0]});
  list_uneven(whole, s);
  EXPECT_EQ(s.parameters[0].copies, 1);
  EXPECT_EQ(s.parameters[1].copies, 2);
  EXPECT_DOUBLE_EQ(s.factor_of("ffn_norm.weight", true), 2);
  EXPECT_DOUBLE_EQ(s.factor_of("down.weight", true), 1);
  EXPECT_DOUBLE_EQ(s.factor_of("down", false), 2);
}

TEST(Uneven, NothingWithoutAStrategy) {
  const Model m = small_model("mixtral-8x7b");
  for (const ShardedLayer& s : shard_types(m, {})) EXPECT_TRUE(s.replicated.empty());
}

}  // namespace
}  // namespace nest::strategies
