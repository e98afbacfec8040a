#include "nest/strategies/expert.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/strategies/test_layers.hpp"

namespace nest::strategies {
namespace {

using testing::ElementsAre;

std::vector<std::string> expert_collectives(const ShardedLayer& s) {
  std::vector<std::string> lines = collectives(s.layer);
  std::erase_if(lines,
                [](const std::string& l) { return !l.starts_with("dispatch") && !l.starts_with("combine"); });
  return lines;
}

// Mixtral-8x7B, 2 * 64 tokens, 2 experts each: 256 rows of 4,096 in 16 bits = 2,097,152 bytes.
TEST(Expert, RowsGoToTheirExpertsAndBack) {
  const Model m = small_model("mixtral-8x7b");
  const LayerType& block = block_with(m, "router");
  const ShardedLayer s = shard_layer(block, {.expert = 8});
  EXPECT_THAT(collectives(s.layer),
              ElementsAre("dispatch.all_to_all: all_to_all 2097152 / all_to_all 2097152",
                          "combine.all_to_all: all_to_all 2097152 / all_to_all 2097152"));
  // A cell of 8 devices runs 8 micro-batches: each device does one micro-batch's worth.
  EXPECT_DOUBLE_EQ(s.layer.forward_flops().value, block.forward_flops().value);
  EXPECT_EQ(8 * s.expert_parameters(), block.expert_parameters());
  EXPECT_EQ(s.dense_parameters(), block.parameters() - block.expert_parameters());
}

// Tensor 4 with sequence parallelism: 16 tokens of each sequence on a device, 64 rows, 524,288 bytes. With
// expert tensor 4 the rows of 4 devices are gathered: 2,097,152 bytes.
TEST(Expert, ExpertTensorGathersRows) {
  const Model m = small_model("mixtral-8x7b");
  const LayerType& block = block_with(m, "router");
  const ShardedLayer s = shard_layer(block, {.tensor = 4, .sequence_parallel = true, .expert = 2});
  EXPECT_THAT(expert_collectives(s),
              ElementsAre("dispatch.all_to_all: all_to_all 524288 / all_to_all 524288",
                          "dispatch.gather: all_gather 2097152 / reduce_scatter 2097152",
                          "combine.scatter: reduce_scatter 2097152 / all_gather 2097152",
                          "combine.all_to_all: all_to_all 524288 / all_to_all 524288"));
  EXPECT_EQ(spell(s.layer.tensor(operator_named(s.layer, "experts.down").inputs[0]).shape),
            "[256 routed, 3584 ffn]");
  EXPECT_EQ(spell(s.layer.tensor(operator_named(s.layer, "experts.down").parameters[0]).shape),
            "[4 experts, 3584 ffn, 4096 hidden]");
  EXPECT_DOUBLE_EQ(4 * operator_named(s.layer, "experts.down").forward_flops.value,
                   operator_named(block, "experts.down").forward_flops.value);
}

TEST(Expert, FoldedOverTensorRanks) {
  const Model m = small_model("mixtral-8x7b");
  const LayerType& block = block_with(m, "router");
  const Strategy strategy{.tensor = 4, .sequence_parallel = true, .expert = 4, .expert_tensor = 1};
  EXPECT_EQ(strategy.side(), 1);
  const ShardedLayer s = shard_layer(block, strategy);
  EXPECT_THAT(expert_collectives(s),
              ElementsAre("dispatch.all_to_all: all_to_all 524288 / all_to_all 524288",
                          "combine.all_to_all: all_to_all 524288 / all_to_all 524288"));
  EXPECT_EQ(4 * s.expert_parameters(), block.expert_parameters());
}

// Without sequence parallelism every rank has all rows and its columns of each expert.
TEST(Expert, SameTokensOnEveryRank) {
  const Model m = small_model("mixtral-8x7b");
  const LayerType& block = block_with(m, "router");
  const ShardedLayer s = shard_layer(block, {.tensor = 4});
  EXPECT_THAT(expert_collectives(s),
              ElementsAre("dispatch.enter: - / all_reduce 1048576", "combine.enter: - / all_reduce 1024",
                          "combine.reduce: all_reduce 1048576 / -"));
  EXPECT_DOUBLE_EQ(4 * operator_named(s.layer, "experts.down").forward_flops.value,
                   operator_named(block, "experts.down").forward_flops.value);
  EXPECT_DOUBLE_EQ(s.factor_of("router", false), 4);
}

TEST(Expert, ImbalanceIsTheLoadOfTheFullestDevice) {
  const Model m = small_model("mixtral-8x7b");
  const LayerType& block = block_with(m, "router");
  ShardOptions options;
  options.expert_imbalance = 1.25;
  const ShardedLayer s = shard_layer(block, {.expert = 8}, options);
  EXPECT_EQ(s.layer.tensor(operator_named(s.layer, "experts.down").inputs[0]).shape[0].size, 320);
  EXPECT_EQ(operator_named(s.layer, "combine.all_to_all").collective.forward_bytes.value, 2097152 * 5 / 4);
  EXPECT_EQ(s.layer.tensor(operator_named(s.layer, "combine").inputs[0]).shape[0].size, 256);
  EXPECT_DOUBLE_EQ(s.factor_of("experts.down", false), 1.25);
  EXPECT_EQ(s.replicated.front().reason, "expert imbalance");
  // All experts on one device: it does all the work whatever the tokens choose.
  EXPECT_TRUE(shard_layer(block, {}, options).replicated.empty());
}

// DeepSeek's shared expert is split over tensor ranks like any feed-forward layer.
TEST(Expert, SharedExpertsAreTheTensorStrategys) {
  const Model m = small_model("deepseek-v3");
  const LayerType& block = block_with(m, "router");
  const Strategy strategy{.tensor = 2, .sequence_parallel = true, .expert = 8, .expert_tensor = 1};
  const ShardedLayer s = shard_layer(block, strategy);
  EXPECT_EQ(s.layer.tensor(operator_named(s.layer, "shared.down").parameters[0]).shape[0].size, 1024);
  EXPECT_EQ(operator_named(s.layer, "shared.down.reduce").collective.forward, CollectiveKind::reduce_scatter);
  EXPECT_TRUE(fact_named(s, "experts.down.weight").expert);
  EXPECT_FALSE(fact_named(s, "shared.down.weight").expert);
  EXPECT_TRUE(fact_named(s, "router.weight").partial_gradient);
}

TEST(Expert, Refusals) {
  const Model m = small_model("mixtral-8x7b");
  EXPECT_TRUE(has_experts(block_with(m, "router")));
  EXPECT_FALSE(has_experts(m.types.front()));
  EXPECT_EQ(check_strategy(m, {.expert = 3})->sentence,
            "expert 3 does not divide the 8 experts of layer with experts");
  EXPECT_EQ(check_strategy(m, {.expert_tensor = 3})->rule, "expert_tensor_ffn");
  EXPECT_EQ(check_strategy(m, {.tensor = 2, .expert_tensor = 1})->rule, "expert_tensor_tokens");
  const auto megatron = check_strategy(m, {.tensor = 2, .expert = 4});
  ASSERT_TRUE(megatron);
  EXPECT_TRUE(megatron->framework);
  EXPECT_EQ(megatron->sentence, "expert 4 with tensor 2 needs sequence parallelism (Megatron)");
  EXPECT_FALSE(check_strategy(m, {.tensor = 2, .sequence_parallel = true, .expert = 4, .expert_tensor = 1}));
  const Model dense = small_model("llama3.1-8b");
  EXPECT_EQ(check_strategy(dense, {.expert = 2})->sentence, "expert 2: llama3.1-8b has no experts");
  EXPECT_EQ(check_strategy(dense, {.expert_tensor = 2})->rule, "expert_tensor_none");
  EXPECT_FALSE(check_strategy(dense, {.tensor = 2, .expert_tensor = 1}));
}

}  // namespace
}  // namespace nest::strategies
