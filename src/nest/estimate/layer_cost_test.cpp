#include "nest/estimate/layer_cost.hpp"

#include <gtest/gtest.h>

#include "nest/model/build.hpp"
#include "nest/model/zoo.hpp"
#include "nest/strategies/registry.hpp"

namespace nest {
namespace {

class LlamaLayer : public ::testing::Test {
 protected:
  LayerCost cost(const Strategy& strategy, RecomputePolicy policy = RecomputePolicy::none) const {
    const CellNetwork network(cluster_, ideal_constants(cluster_), strategy);
    return layer_cost(shard_layer(model_.type_of(LayerId(1)), strategy), policy, times_, network);
  }

  Model model_ = build_model(zoo_model("llama3.1-70b"), {.micro_batch = 1, .sequence = 4096});
  Cluster cluster_ = usual_cluster(find_accelerator("h200"));
  OperatorTimes times_{find_accelerator("h200")};
};

TEST_F(LlamaLayer, WithoutAStrategyNothingIsSent) {
  const LayerCost c = cost({});
  EXPECT_EQ(c.forward_collectives.total().value + c.backward_collectives.total().value, 0);
  EXPECT_EQ(c.parameters(), model_.type_of(LayerId(1)).parameters());
  EXPECT_GT(c.backward, c.forward);
  EXPECT_FALSE(c.launch_bound);
}

// Two all-reduces of b * s * h * 2 bytes forward and two backward, each a ring over 8 at 450 GB/s.
TEST_F(LlamaLayer, TensorParallelismSendsFourAllReduces) {
  const LayerCost c = cost({.tensor = 8});
  const double one = 2 * 7.0 / 8 * (4096.0 * 8192 * 2) / 450e9;
  EXPECT_NEAR(c.forward_collectives.tensor.value, 2 * one, 2 * 20e-6);
  EXPECT_NEAR(c.backward_collectives.tensor.value, 2 * one, 2 * 20e-6);
  EXPECT_EQ(c.expert().value + c.context().value, 0);
  EXPECT_LT(c.forward.value, cost({}).forward.value / 4);
}

TEST_F(LlamaLayer, FullRecomputationRunsTheForwardPassAgain) {
  const LayerCost none = cost({.tensor = 8});
  const LayerCost full = cost({.tensor = 8}, RecomputePolicy::full);
  EXPECT_NEAR(full.backward.value, none.backward.value + none.forward.value, 0.02 * none.forward.value);
  EXPECT_DOUBLE_EQ(full.backward_collectives.tensor.value,
                   none.backward_collectives.tensor.value + none.forward_collectives.tensor.value);
  EXPECT_EQ(full.stash.value, 4096 * 8192 * 2);
  EXPECT_GT(full.transient, none.transient);
}

// 18 bytes a parameter under Megatron's recipe.
TEST_F(LlamaLayer, ParametersTakeTheRecipesBytes) {
  const LayerCost c = cost({.tensor = 8});
  EXPECT_EQ(parameter_bytes(c, named_recipe("megatron")).total().value, 18 * c.parameters());
}

}  // namespace
}  // namespace nest
