// Objective::cost: the fewest seconds of rented devices for a step.
#include <gtest/gtest.h>

#include "nest/plan/rules/rented_plan.hpp"
#include "nest/plan/test_example.hpp"
#include "nest/solve/ask/search.hpp"
#include "nest/solve/ask/test_prove.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

using test::Instance;

double cost_of(const Plan& plan, const PlanInputs& inputs) {
  return plan.predicted->step.value * static_cast<double>(rented_devices(plan, inputs.cluster));
}

TEST(Cost, SearchFindsWhatTheTwinFinds) {
  int others = 0;
  for (unsigned seed = 81'001; seed < 81'001 + 400; seed += test::stride()) {
    Instance instance = test::random_instance(seed, 500);
    instance.options.objective = Objective::step_time;
    instance.options.target_tokens_per_s = 0;
    const SearchResult fastest = ask({instance.inputs, instance.training, instance.space, instance.options});
    instance.options.objective = Objective::cost;
    ASSERT_EQ(test::difference(instance, 500), "") << instance.text;
    if (fastest.plans.empty()) continue;
    const SearchResult cheapest = ask({instance.inputs, instance.training, instance.space, instance.options});
    const double least = cost_of(cheapest.plans.front(), instance.inputs);
    EXPECT_LE(least, cost_of(fastest.plans.front(), instance.inputs) * (1 + 1e-9));
    others +=
        cheapest.plans.front().parallelism.devices() < fastest.plans.front().parallelism.devices() ? 1 : 0;
  }
  EXPECT_GT(test::often(others), 50) << "mostly the fastest plan is not the cheapest";
}

// A plan within the gap of the cheapest, and a bound that no plan is below.
TEST(Cost, WithinAGap) {
  for (unsigned seed = 82'001; seed < 82'001 + 100; seed += test::stride()) {
    Instance instance = test::random_instance(seed, 300);
    instance.options.objective = Objective::cost;
    const SearchResult exact = ask({instance.inputs, instance.training, instance.space, instance.options});
    instance.options.gap = 0.2;
    const SearchResult found = ask({instance.inputs, instance.training, instance.space, instance.options});
    ASSERT_EQ(exact.plans.empty(), found.plans.empty()) << instance.text;
    if (exact.plans.empty()) continue;
    const double least = cost_of(exact.plans.front(), instance.inputs);
    const Plan& plan = found.plans.front();
    EXPECT_LE(cost_of(plan, instance.inputs), 1.2 * least * (1 + 1e-9)) << instance.text;
    const double bound =
        found.lower_bound.value * static_cast<double>(rented_devices(plan, instance.inputs.cluster));
    EXPECT_LE(bound, least * (1 + 1e-9)) << instance.text;
    EXPECT_GE(bound * 1.2, cost_of(plan, instance.inputs) * (1 - 1e-9)) << instance.text;
  }
}

// Two nodes of two devices: idle devices of a node are paid for, idle nodes are not.
TEST(Cost, OneNodeIsCheapest) {
  PlanQuestion question{
      test::example_inputs(), {.global_batch = 8, .sequence = 512, .optimizer = Optimizer::sgd}, {}, {}};
  question.options.objective = Objective::cost;
  const SearchResult found = ask(question);
  ASSERT_FALSE(found.plans.empty());
  EXPECT_EQ(found.status, PlanStatus::optimal);
  EXPECT_EQ(found.plans.front().parallelism.devices(), 2);
  EXPECT_EQ(rented_devices(found.plans.front(), question.inputs.cluster), 2);
}

}  // namespace
}  // namespace nest::solve
