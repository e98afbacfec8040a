#include "nest/solve/tree/least_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "nest/solve/tree/test_problem.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

// What the fullest device of the plan that needs least holds; the most where there is none.
Bytes least_of_all(const test::Instance& instance) {
  Bytes least = Bytes::most();
  Pricer pricer(instance.inputs);
  PricedPlan priced;
  for_each_plan(instance.inputs, instance.training, instance.space, [&](const Plan& plan) {
    pricer.price(plan, priced);
    Bytes fullest;
    for (const StageCost& stage : priced.stages) fullest = std::max(fullest, stage.memory.total());
    if (priced.status != PriceStatus::invalid) least = std::min(least, fullest);
    return true;
  });
  return least;
}

TEST(LeastMemory, NoPlanNeedsLess) {
  constexpr unsigned kFirst = 61'000;
  int exact = 0;
  int compared = 0;
  for (unsigned seed = kFirst; seed < kFirst + 200; seed += test::stride()) {
    const test::Instance instance = test::random_instance(seed, 300);
    if (instance.space.mixed) continue;
    const Bytes all = least_of_all(instance);
    if (all == Bytes::most()) continue;
    test::TestProblem problem(instance);
    for_each_plan(instance.inputs, instance.training, instance.space, [&](const Plan& plan) {
      if (problem.costs.refusal(problem.costs.batches().front(), plan.parallelism.strategy).empty())
        static_cast<void>(problem.configuration(plan));
      return true;
    });
    const Bytes least = least_memory(problem.problem);
    EXPECT_LE(least, all) << instance.text;
    ++compared;
    exact += least == all ? 1 : 0;
  }
  EXPECT_GT(test::often(compared), 100);
  EXPECT_GT(exact, compared / 3);
}

TEST(LeastMemory, NothingWithoutGroups) {
  const test::Instance instance = test::random_instance(61'000, 300);
  const test::TestProblem problem(instance);
  EXPECT_EQ(least_memory(problem.problem), Bytes{0});
}

TEST(LeastMemory, StopsAtTheDeadline) {
  const Deadline deadline;
  deadline.cancel();
  const test::Instance instance = test::random_instance(61'000, 300);
  test::TestProblem problem(instance);
  for_each_plan(instance.inputs, instance.training, instance.space, [&](const Plan& plan) {
    if (problem.costs.refusal(problem.costs.batches().front(), plan.parallelism.strategy).empty())
      static_cast<void>(problem.configuration(plan));
    return true;
  });
  ASSERT_FALSE(problem.problem.degrees.empty());
  EXPECT_THROW((void)least_memory(problem.problem, deadline), Stopped);
}

}  // namespace
}  // namespace nest::solve
