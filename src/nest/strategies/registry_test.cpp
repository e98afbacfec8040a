#include "nest/strategies/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/strategies/test_layers.hpp"

namespace nest::strategies {
namespace {

TEST(Registry, OrderOfTheTable) {
  std::vector<std::string> names;
  for (const SubgraphStrategy& row : subgraph_strategies()) names.push_back(row.name);
  EXPECT_THAT(names, testing::ElementsAre("context", "tensor", "sequence", "expert"));
}

TEST(Registry, OneForEachType) {
  const Model m = small_model("mixtral-8x7b");
  EXPECT_EQ(shard_types(m, {.expert = 4}).size(), m.types.size());
}

TEST(Registry, DegreesBelowOneAreRefused) {
  const Model m = small_model("llama3.1-8b");
  EXPECT_EQ(check_strategy(m, {.tensor = 0})->sentence, "tensor 0 is below 1");
  EXPECT_EQ(check_strategy(m, {.context = -2})->rule, "degree");
}

// A rule of arithmetic is told before one of a framework, wherever it stands in the table.
TEST(Registry, ArithmeticComesFirst) {
  const Model m = small_model("mixtral-8x7b");
  const auto refusal = check_strategy(m, {.tensor = 2, .expert = 3});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->rule, "expert_count");
}

TEST(Registry, TakesRowsFromOutside) {
  const Model m = small_model("llama3.1-8b");
  SubgraphStrategy mine{"batch", "the batch over two devices", [](const Strategy&) { return true; },
                        [](const LayerType& layer, const Strategy&) -> std::optional<Refusal> {
                          return layer.is_block() ? std::optional<Refusal>{{"mine", "not here"}}
                                                  : std::nullopt;
                        },
                        [](LayerTransform& t) {
                          for (TensorIndex i = 0; i < t.tensors(); ++i) t.split(i, Axis::batch, 2);
                        }};
  const auto builtin = subgraph_strategies();
  std::vector<SubgraphStrategy> table(builtin.begin(), builtin.end());
  table.push_back(mine);
  EXPECT_EQ(check_strategy(m, {}, table)->rule, "mine");
  const LayerType& block = block_with(m, "qkv");
  EXPECT_DOUBLE_EQ(
      4 * operator_named(shard_layer(block, {.tensor = 2}, {}, table).layer, "down").forward_flops.value,
      operator_named(block, "down").forward_flops.value);
}

}  // namespace
}  // namespace nest::strategies
