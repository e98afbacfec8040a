#include "nest/price/plan_costs.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/price/price.hpp"

namespace nest::price {
namespace {

class Costs : public testing::Test {
 protected:
  PlanInputs inputs = test::example_inputs();
  CostBook book{inputs};
  StageCoster coster{inputs.recipe, inputs.cluster, book.collectives()};
  PlanCosts costs{book};
  std::vector<StageCost> stages;

  void cost(const Plan& plan) {
    const BuiltModel& model = book.model(1, {.sequence = 512});
    const NetworkOptions options = costs.network_options(plan, model);
    const Parallelism& p = plan.parallelism;
    const PlanNetwork* network =
        book.network(p.strategy, {1, p.pipeline, p.data_inner, p.outer(), 0, false}, options);
    costs.cost(plan, {.model = model, .network = *network, .coster = coster, .kept = true}, stages);
  }
};

TEST_F(Costs, LayersOfAStageAddUp) {
  cost(test::example_plan({{0, 1}, {2}}, 2, 1));
  EXPECT_DOUBLE_EQ(stages[0].chunks[0].forward.value, 3e-3);
  EXPECT_DOUBLE_EQ(stages[0].chunks[0].backward_compute().value, 6e-3);
  EXPECT_EQ(stages[0].chunks[0].backward_bytes, Bytes{50'000'000});
  EXPECT_EQ(stages[0].chunks[0].forward_bytes, Bytes{0});
  EXPECT_EQ(stages[1].chunks[0].forward_bytes, Bytes{50'000'000});
}

TEST_F(Costs, TheSameListsServeTheNextPlan) {
  cost(test::example_plan({{0}, {1}, {2}}, 1, 1));
  cost(test::example_plan({{0, 1, 2}}, 2, 2));
  ASSERT_EQ(stages.size(), 1U);
  EXPECT_DOUBLE_EQ(stages[0].chunks[0].forward.value, 4e-3);
  EXPECT_EQ(stages[0].chunks[0].forward_bytes, Bytes{0});
}

TEST_F(Costs, StageBuffersAreKeptWithEveryStash) {
  Recipe recipe = inputs.recipe;
  recipe.stage_buffers = 2;
  coster = StageCoster(recipe, inputs.cluster, book.collectives());
  cost(test::example_plan({{0, 1}, {2}}, 2, 1));
  // Two micro-batches in flight, each with 200 MB of stash and two tensors of 50 MB.
  EXPECT_EQ(stages[0].memory.activations, Bytes{600'000'000});
}

// Of as many micro-batches as are in flight; the device holds two layers' worth while one works.
TEST(PlanCosts, ActivationsInHostMemoryAreThoseInFlight) {
  Pricer pricer(test::example_inputs());
  Plan plan = test::example_plan({{0, 1}, {2}}, 2, 1);
  const PricedPlan near = pricer.price(plan);
  plan.training.states.offload.activations = true;
  const PricedPlan far = pricer.price(plan);
  ASSERT_EQ(far.status, PriceStatus::feasible) << far.reason;
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_GT(near.stages[i].memory.activations, Bytes{0});
    EXPECT_EQ(far.stages[i].memory.host, near.stages[i].memory.activations);
    EXPECT_EQ(far.stages[i].memory.activations, Bytes{0});
    EXPECT_GT(far.stages[i].memory.workspace, near.stages[i].memory.workspace);
    EXPECT_EQ(far.stages[i].memory.optimizer, near.stages[i].memory.optimizer);
  }
  const StageTime own = far.stages[0].time();
  EXPECT_NEAR(own.total().value - own.offload.value, near.stages[0].time().total().value, 1e-12);
}

}  // namespace
}  // namespace nest::price
