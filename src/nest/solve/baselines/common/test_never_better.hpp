// For tests of baselines: on random small instances none is better than the search, and none finds a plan
// where the search proves that there is none.
//
//   test::never_better(find_flat, 1, 200);
#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "nest/solve/ask/search.hpp"
#include "nest/solve/ask/verify.hpp"
#include "nest/solve/baselines/common/baseline.hpp"
#include "nest/solve/twin/test_instances.hpp"

namespace nest::test {
using namespace solve;

inline void never_better(BaselineFunction find, unsigned first_seed, unsigned seeds) {
  unsigned feasible = 0;
  for (unsigned seed = first_seed; seed < first_seed + seeds; ++seed) {
    Instance made = random_instance(seed, 300);
    made.options.objective = Objective::step_time;
    const PlanQuestion question{std::move(made.inputs), made.training, made.space, made.options};
    const SearchResult ours = ask(question);
    const BaselineResult theirs = find(question, {});
    if (theirs.status != PlanStatus::feasible) {
      EXPECT_FALSE(theirs.reason.empty()) << made.text;
      continue;
    }
    ++feasible;
    ASSERT_TRUE(theirs.plan && theirs.plan->predicted && theirs.believed) << made.text;
    EXPECT_EQ(verify_plan(*theirs.plan, question.inputs, question.options.price_options()), std::nullopt)
        << made.text;
    ASSERT_EQ(ours.status, PlanStatus::optimal) << "only the baseline found a plan\n" << made.text;
    ASSERT_GE(theirs.plan->predicted->step.value, ours.plans.front().predicted->step.value * (1 - 1e-9))
        << made.text;
  }
  EXPECT_GT(feasible, seeds / 4) << "hardly any instance says anything";
}

}  // namespace nest::test
