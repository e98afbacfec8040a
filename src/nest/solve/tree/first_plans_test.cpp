#include "nest/solve/tree/first_plans.hpp"

#include <gtest/gtest.h>

#include "nest/price/price.hpp"
#include "nest/solve/tree/test_problem.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

// All degrees of an instance, and what comes first of them.
struct First {
  test::TestProblem problem;
  BestPlans best;
  std::int64_t work = 0;

  First(const test::Instance& instance, std::size_t threads, const SearchOptions& options)
      : problem(instance), best(options.objective, 1, Seconds::most()) {
    Pricer pricer(instance.inputs);
    for_each_plan(instance.inputs, instance.training, instance.space, [&](const Plan& plan) {
      if (pricer.price(plan).status != PriceStatus::invalid) static_cast<void>(problem.configuration(plan));
      return true;
    });
    Workers workers(threads);
    std::vector<Evaluator> evaluators;
    for (std::size_t i = 0; i < threads; ++i) evaluators.emplace_back(problem.problem);
    FirstPlans first(problem.problem, options, workers, evaluators);
    MemoryBudget memory(Bytes{2'000'000'000});
    first.find(best, memory);
    work = first.counts().work;
  }
};

// What is found is a plan, with the price that it is said to have, and no better than the best.
TEST(FirstPlans, ArePlansOfTheSpace) {
  int found = 0;
  int near = 0;
  for (unsigned seed = 90'001; seed < 90'301; seed += test::stride()) {
    const test::Instance instance = test::random_instance(seed, 1000);
    const First first(instance, 1, instance.options);
    if (first.best.best() == nullptr) continue;
    ++found;
    Pricer pricer(instance.inputs, instance.options.price_options());
    const PricedPlan priced = pricer.price(pricer.place(first.best.best()->plan));
    ASSERT_EQ(priced.status, PriceStatus::feasible) << instance.text << priced.reason;
    const double step = first.best.best()->step.value;
    EXPECT_NEAR(priced.predicted.step.value, step, 1e-9 * step) << instance.text;
    if (instance.options.objective != Objective::step_time) continue;
    const auto twin = brute_force(instance.inputs, instance.training, instance.space, instance.options, 1000);
    ASSERT_TRUE(twin.best) << instance.text;
    EXPECT_GE(step, twin.step->value * (1 - 1e-9)) << instance.text;
    near += step <= 1.2 * twin.step->value ? 1 : 0;
  }
  std::printf("first plans in %d of 300 instances, %d within 20 %% of the best\n", found, near);
  EXPECT_GT(test::often(found), 100);
  EXPECT_GT(4 * near, found);
}

TEST(FirstPlans, AreTheSameWithAnyNumberOfThreads) {
  for (unsigned seed = 91'001; seed < 91'021; ++seed) {
    const test::Instance instance = test::random_instance(seed, 1000);
    const First one(instance, 1, instance.options);
    const First three(instance, 3, instance.options);
    EXPECT_EQ(one.work, three.work) << instance.text;
    ASSERT_EQ(one.best.best() == nullptr, three.best.best() == nullptr) << instance.text;
    if (one.best.best() == nullptr) continue;
    EXPECT_EQ(one.best.best()->tie, three.best.best()->tie) << instance.text;
  }
}

TEST(FirstPlans, NothingIsTriedWhenNobodyWaits) {
  const test::Instance instance = test::random_instance(90'001, 1000);
  SearchOptions options = instance.options;
  options.deadline = Deadline();
  options.deadline.cancel();
  EXPECT_EQ(First(instance, 1, options).best.best(), nullptr);
}

}  // namespace
}  // namespace nest::solve
