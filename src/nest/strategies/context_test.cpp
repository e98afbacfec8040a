#include "nest/strategies/context.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/strategies/test_layers.hpp"

namespace nest::strategies {
namespace {

using testing::ElementsAre;

// Llama-3.1 8B over 4: 2 * 16 tokens of 8 KV heads * 128, keys and values, 16 bits = 131,072 bytes, three
// times; backward with their gradients.
TEST(Context, RingPassesKeysAndValues) {
  const Model m = small_model("llama3.1-8b");
  const LayerType& block = block_with(m, "qkv");
  const ShardedLayer s = shard_layer(block, {.context = 4});
  EXPECT_THAT(collectives(s.layer), ElementsAre("attention.ring: send 131072 / send 262144 x3"));
  EXPECT_DOUBLE_EQ(4 * s.layer.forward_flops().value, block.forward_flops().value);
  EXPECT_EQ(4 * s.layer.stash_bytes().value, block.stash_bytes().value);
  EXPECT_EQ(s.layer.parameters(), block.parameters());
  EXPECT_TRUE(s.replicated.empty());
}

// 2 * 16 tokens of (32 + 8 + 8) heads * 128 in 16 bits go in, 32 heads come back.
TEST(Context, AllToAllTradesTheSequenceForHeads) {
  const Model m = small_model("llama3.1-8b");
  const LayerType& block = block_with(m, "qkv");
  const ShardedLayer s = shard_layer(block, {.context = 4, .context_method = ContextMethod::all_to_all});
  EXPECT_THAT(collectives(s.layer),
              ElementsAre("attention.scatter_heads: all_to_all 393216 / all_to_all 393216",
                          "attention.gather_heads: all_to_all 262144 / all_to_all 262144"));
  const Operator& core = operator_named(s.layer, "attention");
  EXPECT_EQ(spell(s.layer.tensor(core.inputs[0]).shape), "[2 batch, 64 sequence, 8 heads, 128 head_dim]");
  EXPECT_EQ(spell(s.layer.tensor(core.inputs[1]).shape), "[2 batch, 64 sequence, 2 kv_heads, 128 head_dim]");
  EXPECT_DOUBLE_EQ(4 * s.layer.forward_flops().value, block.forward_flops().value);
}

// Over 8 = 2 x 4: 2 * 8 tokens of (32 + 8 + 8) heads * 128 in 16 bits go into the all-to-all of two neighbours, which
// leaves 16 tokens of 16 heads of queries and 4 of keys. Of these, 2 * 16 * (4 + 4) * 128 in 16 bits make three hops.
TEST(Context, HybridTurnsTheKeysOfTheHeadsThatItTraded) {
  const Model m = small_model("llama3.1-8b");
  const LayerType& block = block_with(m, "qkv");
  const Strategy hybrid{.context = 8, .context_method = ContextMethod::hybrid, .context_inner = 2};
  ASSERT_FALSE(check_strategy(m, hybrid));
  const ShardedLayer s = shard_layer(block, hybrid);
  EXPECT_THAT(collectives(s.layer),
              ElementsAre("attention.scatter_heads: all_to_all 196608 / all_to_all 196608",
                          "attention.ring: send 65536 / send 131072 x3",
                          "attention.gather_heads: all_to_all 131072 / all_to_all 131072"));
  EXPECT_EQ(operator_named(s.layer, "attention.scatter_heads").collective.group, GroupAxis::context_inner);
  EXPECT_EQ(operator_named(s.layer, "attention.ring").collective.group, GroupAxis::context_outer);
  const Operator& core = operator_named(s.layer, "attention");
  EXPECT_EQ(spell(s.layer.tensor(core.inputs[0]).shape), "[2 batch, 16 sequence, 16 heads, 128 head_dim]");
  EXPECT_EQ(spell(s.layer.tensor(core.inputs[1]).shape), "[2 batch, 16 sequence, 4 kv_heads, 128 head_dim]");
  EXPECT_DOUBLE_EQ(8 * s.layer.forward_flops().value, block.forward_flops().value);
  // What attention reads and makes by heads is kept, as with all-to-all.
  const ShardedLayer all = shard_layer(block, {.context = 8, .context_method = ContextMethod::all_to_all});
  EXPECT_EQ(s.layer.stash_bytes(), all.layer.stash_bytes());
}

TEST(Context, HybridGroupsDivideTheContextRanks) {
  const Model m = small_model("llama3.1-8b");
  const auto sentence = [&](std::int64_t context, std::int64_t inner, std::int64_t tensor = 1) {
    const auto refusal = check_strategy(m, {.tensor = tensor,
                                            .context = context,
                                            .context_method = ContextMethod::hybrid,
                                            .context_inner = inner});
    return refusal ? refusal->sentence : "";
  };
  EXPECT_EQ(sentence(8, 3), "hybrid: all-to-all groups of 3 ranks do not divide context 8");
  EXPECT_EQ(sentence(8, 1),
            "hybrid: all-to-all groups of 1 rank leave a ring over all 8 context ranks, which is ring");
  EXPECT_EQ(sentence(8, 8),
            "hybrid: an all-to-all group of all 8 context ranks leaves no ring, which is all_to_all");
  EXPECT_EQ(sentence(1, 4), "");
  EXPECT_EQ(sentence(8, 4, 16),
            "hybrid context with all-to-all groups of 4 does not divide the 2 attention heads that a tensor "
            "rank of layer holds");
  EXPECT_EQ(sentence(64, 2), "a sequence of 64 does not split into 2 * 64 chunks for context 64");
}

// The ring of four groups waits for its fullest rank as one of four ranks does; an all-to-all waits for nobody.
TEST(Context, HybridDealsDocumentsOverItsRing) {
  const Model m = build_model(zoo_model("llama3.1-8b"),
                              {.sequence = 8192,
                               .contents = {.lengths = std::make_shared<const Lengths>(
                                                std::vector<LengthCount>{{200, 50}, {4000, 5}})}});
  const LayerType& block = block_with(m, "qkv");
  const auto core = [&](const Strategy& s, const ShardOptions& options = {}) {
    return operator_named(shard_layer(block, s, options).layer, "attention").attention.slowest;
  };
  const double of_four = core({.context = 4});
  EXPECT_GT(of_four, 1.05);
  EXPECT_EQ(core({.context = 16, .context_method = ContextMethod::hybrid, .context_inner = 4}), of_four);
  EXPECT_LT(of_four, core({.context = 16}));
  EXPECT_EQ(core({.context = 4, .context_method = ContextMethod::all_to_all}), 1);
  EXPECT_EQ(core({.context = 4}, {.split_documents = true}), 1);
}

// Half of a long document's keys have a way to go, and hardly any of short ones.
TEST(Context, ARingMayPassOnlyWhatIsNeeded) {
  const auto bytes = [](std::int64_t length, const ShardOptions& options) {
    const Model m = build_model(
        zoo_model("llama3.1-8b"),
        {.sequence = 8192,
         .contents = {.lengths = std::make_shared<const Lengths>(std::vector<LengthCount>{{length, 1}})}});
    const ShardedLayer s = shard_layer(block_with(m, "qkv"), {.context = 4}, options);
    return operator_named(s.layer, "attention.ring").collective.forward_bytes.value;
  };
  const std::int64_t all = bytes(300, {});
  EXPECT_EQ(all, 2048 * 2 * 1024 * 2);
  EXPECT_LT(bytes(300, {.ring_skips = true}), all / 5);
  EXPECT_EQ(bytes(8192, {.ring_skips = true}), all);
  // Ranks that share every document need all of it.
  EXPECT_EQ(bytes(300, {.split_documents = true, .ring_skips = true}), all);
}

// One KV head per tensor rank for two context ranks: both get it.
TEST(Context, AllToAllRepeatsKvHeads) {
  const Model m = small_model("llama3.1-8b");
  const Strategy s{.tensor = 8, .context = 2, .context_method = ContextMethod::all_to_all};
  EXPECT_FALSE(check_strategy(m, s));
  const ShardedLayer sharded = shard_layer(block_with(m, "qkv"), s);
  // 2 * 32 tokens of (4 + 2 * 1 * 2) heads * 128 in 16 bits
  EXPECT_EQ(operator_named(sharded.layer, "attention.scatter_heads").collective.forward_bytes.value,
            2 * 32 * 8 * 128 * 2);
}

TEST(Context, ComposesWithTensor) {
  const Model m = small_model("llama3.1-8b");
  const ShardedLayer s =
      shard_layer(block_with(m, "qkv"), {.tensor = 8, .sequence_parallel = true, .context = 2});
  EXPECT_EQ(operator_named(s.layer, "attention.ring").collective.forward_bytes.value, 2 * 32 * 2 * 128 * 2);
  EXPECT_EQ(operator_named(s.layer, "qkv.enter").collective.forward_bytes.value, 2 * 32 * 4096 * 2);
  EXPECT_EQ(spell(s.layer.tensor(s.layer.outputs[0]).shape), "[2 batch, 4 sequence, 4096 hidden]");
}

TEST(Context, CrossAttentionReadsAShareOfTheSource) {
  const Model m = small_model("t5-11b");
  const LayerType& block = block_with(m, "cross_kv");
  const ShardedLayer s = shard_layer(block, {.context = 2});
  EXPECT_EQ(s.layer.tensor(s.layer.inputs[0]).shape[1], (Dim{Axis::source_sequence, 32}));
  EXPECT_EQ(operator_named(s.layer, "cross_attention.ring").collective.repeats, 1);
}

// Four chunks are even over two ranks, and those of a sequence that ends within a chunk are not.
TEST(Context, ARingWaitsForItsFullestRankOfChunks) {
  const auto slowest = [](std::int64_t sequence) {
    const Model m = build_model(zoo_model("llama4-scout"), {.sequence = sequence});
    for (const LayerType& type : m.types) {
      const ShardedLayer s = shard_layer(type, {.context = 2});
      for (const Operator& op : s.layer.operators) {
        if (op.attention.chunk > 0) return op.attention.slowest;
      }
    }
    return 0.0;
  };
  EXPECT_NEAR(slowest(32'768), 1, 1e-9);
  EXPECT_NEAR(slowest(20'480), 44.0 / 36, 1e-9);  // in units of 1,024^2 pairs: 12.5 + 15.5 and 21.5 + 22.5
}

// Every context rank computes all of the image, and has its share of the tokens.
TEST(Context, TowersAreComputedOnEveryRank) {
  const Model m = build_model(zoo_model("llama4-scout"), {.sequence = 1024});
  ASSERT_FALSE(check_strategy(m, {.context = 4}));
  for (const Layer& layer : m.layers) {
    const LayerType& whole = m.types[layer.type];
    const ShardedLayer s = shard_layer(whole, {.context = 4});
    if (!layer.name.starts_with("vision")) continue;
    EXPECT_EQ(s.layer.forward_flops(), whole.forward_flops()) << layer.name;
    EXPECT_TRUE(collectives(s.layer).empty()) << layer.name;
    EXPECT_DOUBLE_EQ(s.layer.forward_flops().value > 0 ? s.factor_of("qkv", false) : 4,
                     layer.name.ends_with("0") ? 4 : s.factor_of("qkv", false));
  }
  const ShardedLayer tokens =
      shard_layer(m.type_of(LayerId(static_cast<std::int32_t>(m.layers.size()) - 1)), {.context = 4});
  EXPECT_EQ(tokens.layer.tensor(tokens.layer.inputs[0]).shape[1], (Dim{Axis::sequence, 256}));
}

// The decoder of mllama reads an image that is whole on every rank: nothing goes round a ring.
TEST(Context, KeysOfATowerStayWhereTheyAre) {
  LayerBuilder b("decoder");
  const Shape tokens{{Axis::batch, 1}, {Axis::sequence, 64}, {Axis::heads, 8}, {Axis::head_dim, 16}};
  const Shape image{{Axis::batch, 1}, {Axis::tower_sequence, 41}, {Axis::kv_heads, 8}, {Axis::head_dim, 16}};
  const TensorIndex q = b.input("q", tokens);
  const TensorIndex k = b.input("k", image);
  const TensorIndex v = b.input("v", image);
  const LayerType layer = b.finish({b.attention("cross_attention", q, k, v, {})});
  for (const ContextMethod method : {ContextMethod::ring, ContextMethod::all_to_all}) {
    const ShardedLayer s = shard_layer(layer, {.context = 4, .context_method = method});
    EXPECT_TRUE(collectives(s.layer).empty());
    EXPECT_DOUBLE_EQ(s.layer.forward_flops().value, layer.forward_flops().value / 4);
  }
}

TEST(Context, OnePositionIsSpread) {
  const Model m = small_model("bert-large");
  const ShardedLayer s = shard_layer(m.types.back(), {.context = 2});
  EXPECT_EQ(operator_named(s.layer, "first_token.spread").collective.forward_bytes.value, 2 * 1024 * 2);
  EXPECT_DOUBLE_EQ(s.factor_of("pooler", false), 2);
}

TEST(Context, ActiveAboveOne) {
  EXPECT_TRUE(context_strategy().active({.context = 2}));
  EXPECT_FALSE(context_strategy().active({.tensor = 2}));
}

TEST(Context, Refusals) {
  const Model m = small_model("llama3.1-8b", 12);
  EXPECT_EQ(check_strategy(m, {.context = 4})->sentence,
            "a sequence of 12 does not split into 2 * 4 chunks for context 4");
  EXPECT_FALSE(check_strategy(m, {.context = 4})->framework);
  EXPECT_EQ(check_strategy(m, {.context = 5})->rule, "context_sequence");
  const Strategy wide{.tensor = 16, .context = 4, .context_method = ContextMethod::all_to_all};
  EXPECT_EQ(check_strategy(m, wide)->sentence,
            "all-to-all context 4 does not divide the 2 attention heads that a tensor rank of layer holds");
  // Without a mask the ring is even in any order; only frameworks ask for pairs of chunks.
  const auto bert = check_strategy(small_model("bert-large", 12), {.context = 4});
  ASSERT_TRUE(bert);
  EXPECT_TRUE(bert->framework);
}

}  // namespace
}  // namespace nest::strategies
