#include "nest/report/answer/plans_beside.hpp"

#include <gtest/gtest.h>

#include "nest/report/answer/test_answers.hpp"

namespace nest::report {
namespace {

using test::answer;
using test::answer_plan;

std::vector<double> steps(const SearchResult& found) {
  std::vector<double> out;
  for (const Plan* plan : plans_beside(found)) out.push_back(plan->predicted->step.value);
  return out;
}

Plan one_stage(double step) {
  return answer_plan({3}, 8, Seconds{step}, Seconds{0});
}

TEST(PlansBeside, TheRunnersUpOfTheBest) {
  EXPECT_EQ(steps(answer({one_stage(1)})), std::vector<double>{});
  EXPECT_EQ(steps(answer({one_stage(1), one_stage(1.1), one_stage(1.2)})), (std::vector{1.1, 1.2}));
}

TEST(PlansBeside, TheStrictOptimumComesFirstWhereASimplerPlanIsTaken) {
  SearchResult found = answer({answer_plan({1, 2}, 4, Seconds{1}, Seconds{0}), one_stage(1.01)});
  found.simpler = one_stage(1.003);
  EXPECT_EQ(steps(found), (std::vector{1, 1.01}));  // the other of one stage takes longer: it is another plan
  EXPECT_EQ(plans_beside(found).front(), &found.plans.front());
}

TEST(PlansBeside, WhatIsTakenIsNotAmongThem) {
  SearchResult found =
      answer({answer_plan({1, 2}, 4, Seconds{1}, Seconds{0}), one_stage(1.003), one_stage(1.1)});
  found.simpler = one_stage(1.003);
  EXPECT_EQ(steps(found), (std::vector{1, 1.1}));
  EXPECT_EQ(runners_up(found).size(), 1U);  // the strict optimum is none of them
}

TEST(PlansBeside, NearTies) {
  SearchResult found = answer({one_stage(1), one_stage(1.004), one_stage(1.01), one_stage(1.5)});
  EXPECT_EQ(runners_up(found).size(), 3U);
  EXPECT_EQ(near_ties(found).size(), 2U);
  found.simpler = one_stage(1.004);
  found.near_ties = {one_stage(1.004), one_stage(1.015), one_stage(1.03)};
  const std::vector<const Plan*> near = near_ties(found);
  ASSERT_EQ(near.size(), 2U);
  EXPECT_EQ(near[0]->predicted->step, Seconds{1.01});
  EXPECT_EQ(near[1]->predicted->step, Seconds{1.015});
}

}  // namespace
}  // namespace nest::report
