#include "nest/estimate/layers/layer_cost.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "nest/model/blocks/build.hpp"
#include "nest/model/zoo.hpp"
#include "nest/strategies/registry.hpp"

namespace nest::estimate {
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

// A ring of c ranks attends to c chunks of keys: a quarter of the work on each of 4, not a sixteenth.
TEST_F(LlamaLayer, ARingSharesAttentionEvenly) {
  const Operator& whole =
      *std::find_if(model_.type_of(LayerId(1)).operators.begin(), model_.type_of(LayerId(1)).operators.end(),
                    [](const Operator& op) { return op.kind == OperatorKind::attention; });
  const double alone = times_.time(model_.type_of(LayerId(1)), whole).forward.value;
  const ShardedLayer ring = shard_layer(model_.type_of(LayerId(1)), {.context = 4});
  for (const Operator& op : ring.layer.operators) {
    if (op.kind != OperatorKind::attention) continue;
    const double share = times_.time(ring.layer, op).forward.value / alone;
    EXPECT_GE(share, 0.25);
    EXPECT_LE(share, 0.45);  // four kernels on chunks of 1,024 reach less than one on 4,096
  }
}

TEST(ExposedContext, IsWhatIsLongerThanTheStepBesideIt) {
  LayerCost c;
  c.forward_collectives.context = Seconds{5e-3};  // 3 hops of 1 ms, and 2 ms of something else
  c.backward_collectives.context = Seconds{9e-3};
  c.rings = {{Direction::forward, Seconds{1e-3}, Seconds{4e-4}, 3},
             {Direction::backward, Seconds{2e-3}, Seconds{5e-3}, 3},
             {Direction::backward, Seconds{1e-3}, Seconds{4e-4}, 3}};
  EXPECT_DOUBLE_EQ(exposed_context(c, Direction::forward, 1).value, 5e-3 - 3 * 4e-4);
  EXPECT_DOUBLE_EQ(exposed_context(c, Direction::forward, 0.25).value, 5e-3 - 3 * 2.5e-4);
  EXPECT_DOUBLE_EQ(exposed_context(c, Direction::forward, 0).value, 5e-3);
  EXPECT_DOUBLE_EQ(exposed_context(c, Direction::backward, 1).value, 3 * 6e-4);  // the recomputed hops' rest
}

// Long sequences: a step of attention is longer than a hop inside a node, forward, backward and again.
TEST_F(LlamaLayer, ARingHidesBehindLongAttention) {
  const Model model = build_model(zoo_model("llama3.1-70b"), {.micro_batch = 1, .sequence = 65536});
  for (const ContextMethod method : {ContextMethod::ring, ContextMethod::all_to_all}) {
    const Strategy strategy{.context = 8, .context_method = method};
    const CellNetwork network(cluster_, ideal_constants(cluster_), strategy);
    const LayerCost c = layer_cost(shard_layer(model.type_of(LayerId(1)), strategy),
                                   RecomputePolicy::selective, times_, network);
    const bool ring = method == ContextMethod::ring;
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      const Seconds whole = exposed_context(c, direction, 0);
      EXPECT_GT(whole.value, 0);
      EXPECT_NEAR(exposed_context(c, direction, 1).value, ring ? 0 : whole.value, 1e-9);
    }
    EXPECT_EQ(c.rings.size(), ring ? 3U : 0U);
  }
}

// 32 ranks on four nodes: the ring's hops across nodes hide behind attention, the all-to-alls inside do not, and are a
// seventh of what one over all ranks takes.
TEST_F(LlamaLayer, HybridHidesItsRingAlone) {
  const Model model = build_model(zoo_model("llama3.1-70b"), {.micro_batch = 1, .sequence = 1 << 20});
  const auto of = [&](const Strategy& strategy) {
    const CellNetwork network(cluster_, ideal_constants(cluster_), strategy);
    return layer_cost(shard_layer(model.type_of(LayerId(1)), strategy), RecomputePolicy::none, times_,
                      network);
  };
  const LayerCost hybrid = of({.context = 32, .context_method = ContextMethod::hybrid, .context_inner = 8});
  const LayerCost traded = of({.context = 32, .context_method = ContextMethod::all_to_all});
  ASSERT_EQ(hybrid.rings.size(), 2U);
  EXPECT_EQ(hybrid.rings.front().hops, 3);
  const auto whole = exposed_context(hybrid, Direction::forward, 0);
  const auto shown = exposed_context(hybrid, Direction::forward, 1);
  EXPECT_NEAR((whole - shown).value, 3 * std::min(hybrid.rings.front().hop, hybrid.rings.front().step).value,
              1e-9);
  EXPECT_GT(shown.value, 0);
  EXPECT_LT(shown.value, exposed_context(traded, Direction::forward, 1).value / 2);
  EXPECT_NEAR(hybrid.forward.value, traded.forward.value, 0.05 * traded.forward.value);
}

// What networks have in common, priced over one of them.
TEST_F(LlamaLayer, IsItsComputeAndItsNetwork) {
  const Strategy strategy{.tensor = 4, .sequence_parallel = true, .context = 2};
  const CellNetwork network(cluster_, ideal_constants(cluster_), strategy);
  const LayerCost c = layer_cost(
      layer_compute(shard_layer(model_.type_of(LayerId(1)), strategy), RecomputePolicy::full, times_),
      network);
  const LayerCost whole = cost(strategy, RecomputePolicy::full);
  EXPECT_EQ(c.backward, whole.backward);
  EXPECT_EQ(c.backward_collectives.tensor, whole.backward_collectives.tensor);
  EXPECT_EQ(c.stash, whole.stash);
  // One by one, as the operators stand in the layer; recomputation sends all of the forward pass again.
  CollectiveSeconds sent;
  for (const Operator& op : shard_layer(model_.type_of(LayerId(1)), strategy).layer.operators) {
    if (op.kind != OperatorKind::collective) continue;
    const Seconds both =
        network.time(op.collective, Direction::backward) + network.time(op.collective, Direction::forward);
    (op.collective.group == GroupAxis::context ? sent.context : sent.tensor) += both;
  }
  EXPECT_NEAR(c.backward_collectives.tensor.value, sent.tensor.value, 1e-12);
  EXPECT_NEAR(c.backward_collectives.context.value, sent.context.value, 1e-12);
}

// A layer that the processor cannot issue fast enough is issued again when it is recomputed.
TEST(LaunchBound, RecomputationIsIssuedAgain) {
  const Model model = build_model(zoo_model("bert-large"));
  const Cluster cluster = usual_cluster(find_accelerator("h200"));
  const OperatorTimes times(find_accelerator("h200"));
  const CellNetwork network(cluster, ideal_constants(cluster), {});
  const LayerCost c =
      layer_cost(shard_layer(model.type_of(LayerId(1)), {}), RecomputePolicy::full, times, network);
  ASSERT_TRUE(c.launch_bound);
  EXPECT_NEAR(c.recompute.value, c.forward.value, 0.05 * c.forward.value);
}

// 18 bytes a parameter under Megatron's recipe.
TEST_F(LlamaLayer, ParametersTakeTheRecipesBytes) {
  const LayerCost c = cost({.tensor = 8});
  EXPECT_EQ(parameter_bytes(c, named_recipe("megatron")).total().value, 18 * c.parameters());
}

}  // namespace
}  // namespace nest::estimate
