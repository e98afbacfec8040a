#include "nest/price/run/reshard.hpp"

#include <gtest/gtest.h>

#include "nest/cluster/resize.hpp"
#include "nest/plan/test_example.hpp"
#include "nest/price/price.hpp"

namespace nest::price {
namespace {

// Three layers of 100 M parameters: 200 MB of weights each. The plain recipe has no master copy and its SGD no
// states; Adam's two moments are 8 bytes a parameter, 800 MB a layer.
constexpr std::int64_t kWeights = 200'000'000;
constexpr std::int64_t kStates = 800'000'000;

Plan placed(const PlanInputs& inputs, Plan plan, Optimizer optimizer = Optimizer::sgd) {
  plan.training.optimizer = optimizer;
  return Pricer(inputs).place(std::move(plan));
}

TEST(Reshard, TheSamePlanMovesNothing) {
  const PlanInputs inputs = test::example_inputs();
  const Plan plan = placed(inputs, test::example_plan({{0, 1}, {2}}, 2, 2));
  const Reshard moved = reshard(inputs, plan, plan);
  EXPECT_EQ(moved.total.value, 0);
  EXPECT_EQ(moved.lost.value, 0);
  // Two copies of all three layers.
  EXPECT_EQ(moved.state.value, 6 * kWeights);
}

// Four copies of everything become two stages with two copies: every device has its layers already.
TEST(Reshard, WhoHasAllFetchesNothing) {
  const PlanInputs inputs = test::example_inputs();
  const Plan all = placed(inputs, test::example_plan({{0, 1, 2}}, 4, 4));
  const Plan stages = placed(inputs, test::example_plan({{0, 1}, {2}}, 2, 2));
  EXPECT_EQ(reshard(inputs, all, stages).total.value, 0);
  // Back: two devices lack layer 2, two lack layers 0 and 1.
  const Reshard back = reshard(inputs, stages, all);
  EXPECT_EQ(back.total.value, 2 * kWeights + 2 * 2 * kWeights);
  EXPECT_EQ(back.most.value, 2 * kWeights);
}

// The last stage lies at the first devices: devices 0 and 1 have layer 2, devices 2 and 3 layers 0 and 1. The
// second node fails: devices 0 and 1 must hold all layers, and nobody has layers 0 and 1 any more.
TEST(Reshard, AFailedNodeTakesItsLayersAlong) {
  const PlanInputs inputs = test::example_inputs();
  const Plan before = placed(inputs, test::example_plan({{0, 1}, {2}}, 2, 2));
  PlanInputs fewer = inputs;
  fewer.cluster = with_devices(inputs.cluster, 2);
  const Plan after = placed(fewer, test::example_plan({{0, 1, 2}}, 2, 2));
  const Reshard moved = reshard(fewer, before, after);
  EXPECT_EQ(moved.total.value, 2 * 2 * kWeights);
  EXPECT_EQ(moved.lost.value, 2 * kWeights);
}

// ZeRO 1 over four ranks: each has all weights and a quarter of the states. Over two of them it is a half: rank
// 0 had [0, 1/4) and needs [0, 1/2), rank 1 had [1/4, 1/2) and needs [1/2, 1). The states of ranks 2 and 3 are
// lost.
TEST(Reshard, ShardsOfZero) {
  const PlanInputs inputs = test::example_inputs();
  Plan plan = test::example_plan({{0, 1, 2}}, 4, 4);
  plan.parallelism.zero = 1;
  const Plan before = placed(inputs, plan, Optimizer::adam);
  PlanInputs fewer = inputs;
  fewer.cluster = with_devices(inputs.cluster, 2);
  plan = test::example_plan({{0, 1, 2}}, 2, 2);
  plan.parallelism.zero = 1;
  const Reshard moved = reshard(fewer, before, placed(fewer, plan, Optimizer::adam));
  EXPECT_EQ(moved.state.value, 2 * 3 * kWeights + 3 * kStates);
  EXPECT_EQ(moved.total.value, 3 * kStates / 4 + 3 * kStates / 2);
  EXPECT_EQ(moved.most.value, 3 * kStates / 2);
  EXPECT_EQ(moved.lost.value, 3 * kStates / 2);
}

}  // namespace
}  // namespace nest::price
