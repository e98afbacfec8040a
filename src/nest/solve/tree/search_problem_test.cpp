#include "nest/solve/tree/search_problem.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "nest/price/price.hpp"
#include "nest/solve/tree/test_problem.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

// Every plan that plain loops enumerate is among the choices of its degrees, and a choice is there once.
TEST(SearchProblem, HasTheChoicesOfEveryPlan) {
  int plans = 0;
  for (unsigned seed = 92'001; seed < 92'101; seed += test::stride()) {
    const test::Instance instance = test::random_instance(seed, 300);
    test::TestProblem problem(instance);
    Pricer pricer(instance.inputs);
    for_each_plan(instance.inputs, instance.training, instance.space, [&](const Plan& plan) {
      if (pricer.price(plan).status == PriceStatus::invalid) return true;
      const Configuration c = problem.configuration(plan);
      bool schedule = false;
      std::set<std::tuple<int, std::int64_t>> schedules;
      for (const auto& [own, interleave] : problem.problem.schedules(problem.degrees(c))) {
        EXPECT_TRUE(schedules.emplace(static_cast<int>(own), interleave).second) << instance.text;
        schedule = schedule || (own == c.schedule && interleave == c.interleave);
      }
      EXPECT_TRUE(schedule) << instance.text;
      bool zero = false;
      for (const auto& [own, shards, recompute] : problem.problem.zeros(c))
        zero = zero || (own == c.zero && shards == problem.shards(c));
      EXPECT_TRUE(zero) << instance.text;
      ++plans;
      return !testing::Test::HasFailure();
    });
  }
  EXPECT_GT(plans, 1000);
}

}  // namespace
}  // namespace nest::solve
