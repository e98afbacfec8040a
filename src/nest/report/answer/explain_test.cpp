#include "nest/report/answer/explain.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "support/message_of.hpp"

namespace nest::report {
namespace {

TEST(Explain, PricesOneChangeAtATime) {
  const Plan plan = test::example_plan({{0, 1}, {2}}, 2, 2);
  const Explanation e = explain(plan, test::example_inputs());
  // Compute, node, rack; half of each; a profile's micro-batch is fixed, and its recipe hides nothing.
  ASSERT_EQ(e.effects.size(), 5U);
  EXPECT_EQ(e.effects[4].change, "half the bandwidth at level 'rack'");
  EXPECT_GT(e.effects[4].step, e.priced.predicted.step);
  EXPECT_EQ(e.effects[0].change, "10 % more compute");
  // Stage 0: 4 x (9/1.1 + 5.005) ms, what stage 1 takes before it, and 4.002 ms of gradients in the node.
  const double u0 = 9e-3 / 1.1 + 5.005e-3;
  const double u1 = 3e-3 / 1.1 + 5.005e-3;
  EXPECT_NEAR(e.effects[0].step.value, 4 * u0 + (u1 - 3e-3 / 1.1) + 4.002e-3, 1e-12);
  EXPECT_EQ(e.effects[2].change, "10 % more bandwidth at level 'rack'");
  EXPECT_LT(e.effects[2].step, e.priced.predicted.step);
  EXPECT_NEAR(e.effects[1].step.value, e.priced.predicted.step.value - 4e-3 + 4e-3 / 1.1, 1e-12);
}

TEST(Explain, SaysWhatBinds) {
  const Explanation e = explain(test::example_plan({{0, 1, 2}}, 2, 2), test::example_inputs());
  ASSERT_FALSE(e.binds.empty());
  EXPECT_TRUE(e.binds.front().starts_with("compute: 10 % more of it makes the step 8.1 % shorter"))
      << e.binds.front();
  EXPECT_EQ(e.binds.back(), "not memory: the fullest stage (0) takes 1.9 % of a device");
}

// Most of the step is the host's, which is one of the effects and the first of what binds.
TEST(Explain, AnOffloadedOptimizerIsBoundByTheHost) {
  PlanInputs inputs = test::example_inputs();
  inputs.recipe.optimizer_time = true;
  Plan plan = test::example_plan({{0, 1, 2}}, 2, 2);
  EXPECT_FALSE(explain(plan, inputs).host.has_value());
  plan.training.states.offload.optimizer = true;
  const Explanation e = explain(plan, inputs);
  ASSERT_TRUE(e.host.has_value());
  EXPECT_EQ(e.effects[*e.host].change, "10 % more of the host's link and processors");
  const Prediction& p = e.priced.predicted;
  EXPECT_GT(p.breakdown.offload.value, 0.5 * p.step.value);
  EXPECT_NEAR((p.step - e.effects[*e.host].step).value, p.breakdown.offload.value * (1 - 1 / 1.1), 1e-4);
  EXPECT_TRUE(e.binds.front().starts_with("the host: 10 % more of its link and its processors makes"))
      << e.binds.front();
}

TEST(Explain, AnInvalidPlanIsAnError) {
  Plan plan = test::example_plan({{0, 1}, {2}}, 2, 2);
  plan.stages.pop_back();
  EXPECT_EQ(message_of([&] { static_cast<void>(explain(plan, test::example_inputs())); }),
            "plan: pipeline is 2, but there are 1 stages");
}

}  // namespace
}  // namespace nest::report
