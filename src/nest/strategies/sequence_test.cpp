#include "nest/strategies/sequence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/strategies/test_layers.hpp"

namespace nest::strategies {
namespace {

using testing::ElementsAre;

// The same 1,048,576 bytes as the all-reduces, and a second gather of the inputs in the backward pass.
TEST(Sequence, GathersAndScattersInPlaceOfAllReduces) {
  const Model m = small_model("llama3.1-8b");
  const ShardedLayer s = shard_layer(block_with(m, "qkv"), {.tensor = 8, .sequence_parallel = true});
  EXPECT_THAT(collectives(s.layer), ElementsAre("qkv.enter: all_gather 1048576 / reduce_scatter 1048576",
                                                "qkv.enter.regather: - / all_gather 1048576",
                                                "output.reduce: reduce_scatter 1048576 / all_gather 1048576",
                                                "gate_up.enter: all_gather 1048576 / reduce_scatter 1048576",
                                                "gate_up.enter.regather: - / all_gather 1048576",
                                                "down.reduce: reduce_scatter 1048576 / all_gather 1048576"));
}

// Korthikanti et al., equation 4 without the attention core's matrix: every kept value is split over t. Llama
// keeps 2 norm inputs, 2 norm outputs, q, k, v, the result, gate, up and their product in 16 bits, and in 32
// bits the norms' scales and the log-sums.
TEST(Sequence, KeepsAShareOfEverything) {
  const Model m = small_model("llama3.1-8b");
  const LayerType& block = block_with(m, "qkv");
  const ShardedLayer s = shard_layer(block, {.tensor = 8, .sequence_parallel = true});
  EXPECT_EQ(8 * s.layer.stash_bytes().value, block.stash_bytes().value);
  EXPECT_EQ(8 * s.layer.output_bytes().value, block.output_bytes().value);
}

TEST(Sequence, NormsHavePartialGradients) {
  const Model m = small_model("gpt2-xl", 50);
  const ShardedLayer s = shard_layer(block_with(m, "qkv"), {.tensor = 5, .sequence_parallel = true});
  EXPECT_TRUE(fact_named(s, "attention_norm.bias").partial_gradient);
  EXPECT_TRUE(fact_named(s, "down.bias").partial_gradient);
  EXPECT_FALSE(fact_named(s, "up.bias").partial_gradient);
  EXPECT_EQ(s.partial_gradient_parameters(), 6 * 1600);  // two norms, two biases
}

// What has no axis to split has rows: routers and latent projections are done once.
TEST(Sequence, RowsAreDoneOnce) {
  const Model m = small_model("deepseek-v3");
  const LayerType& block = block_with(m, "router");
  const ShardedLayer s = shard_layer(block, {.tensor = 8, .sequence_parallel = true});
  EXPECT_DOUBLE_EQ(s.factor_of("q_down", false), 1);
  EXPECT_DOUBLE_EQ(s.factor_of("router", false), 1);
  EXPECT_DOUBLE_EQ(s.factor_of("router.weight", true), 8);
  // The rotary key is gathered, and not again: nothing needs it in the backward pass.
  EXPECT_EQ(operator_named(s.layer, "rotary.enter").collective.forward, CollectiveKind::all_gather);
  for (const Operator& op : s.layer.operators) EXPECT_NE(op.name, "rotary.enter.regather");
}

TEST(Sequence, OnePositionIsSpread) {
  const Model m = small_model("bert-large");
  const ShardedLayer s = shard_layer(m.types.back(), {.tensor = 8, .sequence_parallel = true});
  EXPECT_EQ(operator_named(s.layer, "first_token.spread_rows").collective.forward, CollectiveKind::broadcast);
  EXPECT_DOUBLE_EQ(s.factor_of("pooler", false), 8);
  EXPECT_DOUBLE_EQ(s.factor_of("mlm_transform", false), 1);
}

TEST(Sequence, EmbeddingsScatterTheirResult) {
  const Model m = small_model("llama3.1-8b");
  EXPECT_THAT(collectives(shard_layer(m.types.front(), {.tensor = 8, .sequence_parallel = true}).layer),
              ElementsAre("token_embedding.reduce: reduce_scatter 1048576 / all_gather 1048576"));
}

// The tower of Llama 4 has 577 positions, which no degree divides: its rows stay whole on every rank, and the gradients
// of those that go among the tokens are added up. Two images of 144 tokens are 288 rows of 5,120 values.
TEST(Sequence, TowersKeepTheirRows) {
  const Model m = build_model(zoo_model("llama4-scout"), {.sequence = 1024});
  const Strategy s{.tensor = 8, .sequence_parallel = true};
  ASSERT_FALSE(check_strategy(m, s));
  const auto of = [&](const std::string& name) {
    const auto at = std::ranges::find(m.layers, name, &Layer::name);
    return shard_layer(m.types[at->type], s);
  };
  const ShardedLayer block = of("vision0");
  EXPECT_EQ(block.layer.tensor(block.layer.outputs[0]).shape[1], (Dim{Axis::tower_sequence, 577}));
  for (const std::string& line : collectives(block.layer))
    EXPECT_NE(line.find("all_reduce"), std::string::npos) << line;
  const ShardedLayer tokens = of("embedding");
  EXPECT_THAT(collectives(tokens.layer),
              ElementsAre("token_embedding.reduce: reduce_scatter 10485760 / all_gather 10485760",
                          "tower0.enter: - / all_reduce 1474560"));
  EXPECT_EQ(tokens.layer.tensor(tokens.layer.outputs[0]).shape[1], (Dim{Axis::sequence, 128}));
}

TEST(Sequence, NeedsTensorRanks) {
  EXPECT_TRUE(sequence_strategy().active({.tensor = 2, .sequence_parallel = true}));
  EXPECT_FALSE(sequence_strategy().active({.sequence_parallel = true}));
}

TEST(Sequence, Refusals) {
  const Model m = small_model("llama3.1-8b", 60);
  EXPECT_EQ(check_strategy(m, {.tensor = 8, .sequence_parallel = true})->sentence,
            "sequence parallelism over 8 does not divide the 60 positions of embedded in embedding");
  EXPECT_FALSE(check_strategy(m, {.tensor = 8}));
  const auto alone = check_strategy(m, {.sequence_parallel = true});
  ASSERT_TRUE(alone);
  EXPECT_TRUE(alone->framework);
  EXPECT_EQ(alone->rule, "sequence_parallel_tensor");
}

TEST(Sequence, AsksWhetherPositionsAreDivided) {
  const Model m = small_model("llama3.1-8b", 60);
  EXPECT_TRUE(divides_positions(m, {.tensor = 4}));
  EXPECT_FALSE(divides_positions(m, {.tensor = 8}));
  EXPECT_FALSE(divides_positions(m, {.tensor = 4, .context = 2}));
}

}  // namespace
}  // namespace nest::strategies
