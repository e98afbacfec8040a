#include "nest/solve/baselines/common/judge.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"

namespace nest::solve {
namespace {

Plan example_plan(std::int64_t pipeline) {
  Plan plan;
  plan.training = {.global_batch = 8, .sequence = 512, .micro_batches = 0, .optimizer = Optimizer::sgd};
  plan.parallelism.pipeline = pipeline;
  return plan;
}

BaselineResult judged(const Plan& plan, PlanInputs inputs) {
  Pricer pricer(std::move(inputs));
  BaselineResult result;
  judge(plan, pricer, result);
  return result;
}

TEST(Judge, PlacesAndPricesAPlan) {
  const BaselineResult result = judged(example_plan(2), test::example_inputs());
  EXPECT_EQ(result.status, PlanStatus::feasible) << result.reason;
  ASSERT_TRUE(result.plan && result.plan->predicted);
  EXPECT_TRUE(result.plan->placed());
  EXPECT_GT(result.plan->predicted->step.value, 0);
}

TEST(Judge, KeepsAPlanThatDoesNotFit) {
  PlanInputs inputs = test::example_inputs();
  ClusterParts parts = inputs.cluster.parts();
  parts.accelerator.memory = Bytes{1'000};
  inputs.cluster = Cluster(std::move(parts));
  const BaselineResult result = judged(example_plan(2), std::move(inputs));
  EXPECT_EQ(result.status, PlanStatus::infeasible);
  EXPECT_TRUE(result.plan && result.plan->predicted);
  EXPECT_FALSE(result.reason.empty());
}

TEST(Judge, HasNoPlanWhereItIsNone) {
  const BaselineResult result = judged(example_plan(500), test::example_inputs());
  EXPECT_EQ(result.status, PlanStatus::infeasible);
  EXPECT_FALSE(result.plan);
  EXPECT_FALSE(result.reason.empty());
}

}  // namespace
}  // namespace nest::solve
