#include "nest/plan/price.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"

namespace nest {
namespace {

using test::example_inputs;
using test::example_plan;

constexpr double kExact = 1e-12;

PricedPlan price(const Plan& plan) {
  Pricer pricer(example_inputs());
  return pricer.price(plan);
}

TEST(Example, TwoStagesCopiesInDifferentNodes) {
  const PricedPlan p = price(example_plan({{0, 1}, {2}}, 2, 1));
  ASSERT_EQ(p.status, PriceStatus::feasible) << p.reason;
  EXPECT_NEAR(p.stages[0].f().value, 3e-3, kExact);
  EXPECT_NEAR(p.stages[0].b().value, 6.501e-3, kExact);
  EXPECT_NEAR(p.stages[1].f().value, 1.501e-3, kExact);
  EXPECT_NEAR(p.stages[1].b().value, 2e-3, kExact);
  EXPECT_NEAR(p.pipeline.value, 38.505e-3, kExact);
  EXPECT_NEAR(p.stages[0].reduce.value, 40.010e-3, kExact);
  EXPECT_NEAR(p.predicted.step.value, 78.515e-3, kExact);
  EXPECT_NEAR(p.predicted.breakdown.total().value, p.predicted.step.value, kExact);
}

TEST(Example, SameCutCopiesSideBySide) {
  const PricedPlan p = price(example_plan({{0, 1}, {2}}, 2, 2));
  EXPECT_NEAR(p.stages[0].b().value, 11.005e-3, kExact);
  EXPECT_NEAR(p.stages[1].f().value, 6.005e-3, kExact);
  EXPECT_NEAR(p.pipeline.value, 61.025e-3, kExact);
  EXPECT_NEAR(p.predicted.step.value, 65.027e-3, kExact);
}

TEST(Example, OtherCut) {
  const PricedPlan p = price(example_plan({{0}, {1, 2}}, 2, 2));
  EXPECT_NEAR(p.pipeline.value, 64.025e-3, kExact);
  EXPECT_NEAR(p.stages[1].reduce.value, 4.002e-3, kExact);  // hidden behind stage 0's 7.005 ms
  EXPECT_NEAR(p.predicted.step.value, 66.027e-3, kExact);
}

TEST(Example, FourCopies) {
  const PricedPlan p = price(example_plan({{0, 1, 2}}, 4, 4));
  EXPECT_NEAR(p.pipeline.value, 24e-3, kExact);
  EXPECT_NEAR(p.predicted.step.value, 60.012e-3, kExact);
  EXPECT_EQ(p.predicted.breakdown.bubble.value, 0);
}

TEST(Example, TwoCopiesTwoIdle) {
  const PricedPlan p = price(example_plan({{0, 1, 2}}, 2, 2));
  EXPECT_NEAR(p.predicted.step.value, 54.002e-3, kExact);
  EXPECT_EQ(p.stages[0].memory.total(), Bytes{1'500'000'000});
  EXPECT_EQ(p.stages[0].memory.activations, Bytes{300'000'000});
}

TEST(Example, ThreeStages) {
  const PricedPlan p = price(example_plan({{0}, {1}, {2}}, 1, 1));
  EXPECT_NEAR(p.stages[0].b().value, 7.005e-3, kExact);
  EXPECT_NEAR(p.stages[1].f().value, 7.005e-3, kExact);
  EXPECT_NEAR(p.stages[1].b().value, 4.501e-3, kExact);
  EXPECT_NEAR(p.stages[2].f().value, 1.501e-3, kExact);
  EXPECT_NEAR(p.predicted.step.value, 100.053e-3, kExact);
}

TEST(Example, MemoryOfTwoStages) {
  const PricedPlan p = price(example_plan({{0, 1}, {2}}, 2, 1));
  EXPECT_EQ(p.stages[0].memory.total(), Bytes{1'200'000'000});
  EXPECT_EQ(p.stages[1].memory.total(), Bytes{500'000'000});
}

TEST(Example, DevicesAsTheyStandOrByTheRule) {
  Pricer pricer(example_inputs());
  const Plan rule = example_plan({{0, 1}, {2}}, 2, 1);
  const Plan placed = pricer.place(rule);
  EXPECT_EQ(placed.stages[0].devices, (std::vector<Cell>{{DeviceId{1}}, {DeviceId{3}}}));
  EXPECT_EQ(placed.stages[1].devices, (std::vector<Cell>{{DeviceId{0}}, {DeviceId{2}}}));
  EXPECT_EQ(pricer.price(placed).predicted.step, pricer.price(rule).predicted.step);
  // A silly placement is priced as silly: the pipeline crosses nodes, and so do the gradients.
  Plan silly = placed;
  silly.stages[0].devices = {{DeviceId{1}}, {DeviceId{2}}};
  silly.stages[1].devices = {{DeviceId{3}}, {DeviceId{0}}};
  EXPECT_GT(pricer.price(silly).predicted.step.value, 1.2 * pricer.price(rule).predicted.step.value);
}

TEST(Price, InvalidPlansAreAStatus) {
  Pricer pricer(example_inputs());
  Plan plan = example_plan({{0, 1}, {2}}, 2, 1);
  plan.stages[1].layers = {LayerId{1}};
  const PricedPlan p = pricer.price(plan);
  EXPECT_EQ(p.status, PriceStatus::invalid);
  EXPECT_EQ(p.reason, "stage 1: layer 1 is also in stage 0");
}

}  // namespace
}  // namespace nest
