#include "nest/solve/ask/verify.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/price/price.hpp"

namespace nest::solve {
namespace {

Plan priced_example(const PlanInputs& inputs) {
  Pricer pricer(inputs);
  const Plan plan = pricer.place(pricer.complete(test::example_plan({{0, 1}, {2}}, 2, 1)));
  return with_results(plan, pricer.price(plan));
}

TEST(Verify, LetsTheTruthPass) {
  const PlanInputs inputs = test::example_inputs();
  EXPECT_EQ(verify_plan(priced_example(inputs), inputs, PipelineModel::one_f_one_b), std::nullopt);
}

TEST(Verify, NamesBothStepsWhereTheyDiffer) {
  const PlanInputs inputs = test::example_inputs();
  Plan plan = priced_example(inputs);
  plan.predicted->step = Seconds{0.05};
  EXPECT_EQ(verify_plan(plan, inputs, PipelineModel::one_f_one_b),
            "the search says 0.05 s a step, the price is 0.078515 s");
}

TEST(Verify, WantsTheSamePipelineModel) {
  const PlanInputs inputs = test::example_inputs();
  EXPECT_NE(verify_plan(priced_example(inputs), inputs, PipelineModel::paper), std::nullopt);
}

TEST(Verify, RefusesPlansThatAreNone) {
  const PlanInputs inputs = test::example_inputs();
  Plan twice = priced_example(inputs);
  twice.stages[1].devices = twice.stages[0].devices;
  EXPECT_EQ(verify_plan(twice, inputs, PipelineModel::one_f_one_b)->find("the price calls the plan invalid"),
            0U);
  Plan bare = priced_example(inputs);
  for (Stage& stage : bare.stages) stage.devices.clear();
  EXPECT_EQ(verify_plan(bare, inputs, PipelineModel::one_f_one_b),
            "the plan is not complete: devices or a prediction is missing");
}

}  // namespace
}  // namespace nest::solve
