#include "nest/solve/baselines/no_memory.hpp"

#include <gtest/gtest.h>

#include "nest/solve/baselines/common/test_never_better.hpp"
#include "nest/solve/baselines/common/test_questions.hpp"

namespace nest::solve {
namespace {

TEST(NoMemory, IsTheSearchWhereMemoryIsPlenty) {
  const PlanQuestion question = test::chain_question({});
  const BaselineResult blind = find_no_memory(question, {});
  ASSERT_EQ(blind.status, PlanStatus::feasible) << blind.reason;
  EXPECT_EQ(blind.plan->predicted->step, ask(question).plans.front().predicted->step);
  EXPECT_EQ(*blind.believed, blind.plan->predicted->step);
  EXPECT_TRUE(blind.notes.empty());
}

// 8 copies of the model hold 1.6 GB of weights and gradients each and keep 0.8 GB: too much for 2 GB, which
// the search knows from the start.
TEST(NoMemory, ItsFirstChoiceDoesNotFit) {
  const PlanQuestion question = test::chain_question({.cluster = {.memory = 2e9}});
  const BaselineResult blind = find_no_memory(question, {});
  const SearchResult ours = ask(question);
  ASSERT_EQ(ours.status, PlanStatus::optimal);
  ASSERT_EQ(blind.status, PlanStatus::feasible) << blind.reason;
  ASSERT_EQ(blind.notes.size(), 2U);
  EXPECT_NE(blind.notes[0].find("its first choice needs"), std::string::npos) << blind.notes[0];
  EXPECT_NE(blind.notes[1].find("is the first that fits"), std::string::npos) << blind.notes[1];
  EXPECT_GE(blind.plan->predicted->step.value, ours.plans.front().predicted->step.value);
}

// Nothing of its list recomputes, and nothing else fits.
TEST(NoMemory, FindsNothingWhereTheSearchDoes) {
  const PlanQuestion question = test::chain_question({.cluster = {.memory = 4e9}, .activation_bytes = 3e9});
  const SearchResult ours = ask(question);
  ASSERT_EQ(ours.status, PlanStatus::optimal);
  const BaselineResult blind = find_no_memory(question, {});
  EXPECT_EQ(blind.status, PlanStatus::infeasible);
  ASSERT_TRUE(blind.plan && blind.plan->predicted);
  EXPECT_FALSE(blind.reason.empty());
  ASSERT_EQ(blind.notes.size(), 2U);
  EXPECT_EQ(blind.notes[1], "none of its first 8 plans fits");
  EXPECT_LT(*blind.believed, ours.plans.front().predicted->step);
}

TEST(NoMemory, IsNeverBetterThanTheSearch) {
  test::never_better(find_no_memory, 2001, 200);
}

}  // namespace
}  // namespace nest::solve
