#include "nest/solve/baselines/common/first_fitting.hpp"

#include <gtest/gtest.h>

#include "nest/solve/ask/search.hpp"
#include "nest/solve/baselines/common/test_questions.hpp"

namespace nest::solve {
namespace {

Plan copies_of_four(std::int64_t block_devices, std::int64_t zero_shards) {
  Plan plan;
  plan.parallelism.pipeline = 2;
  plan.parallelism.data = 4;
  plan.parallelism.data_inner = 1;
  plan.parallelism.block_devices = block_devices;
  plan.parallelism.zero = 1;
  plan.parallelism.zero_shards = zero_shards;
  return plan;
}

TEST(FirstFitting, KeepsSizesThatTheClusterHas) {
  const PlanQuestion question = test::chain_question({});
  // Two copies of two stages in each node of four.
  const Plan kept = choices_on_cluster(copies_of_four(2, 2), question);
  EXPECT_EQ(kept.parallelism.block_devices, 2);
  EXPECT_EQ(kept.parallelism.zero_shards, 2);
}

TEST(FirstFitting, ReplacesSizesThatItDoesNotHave) {
  const PlanQuestion question = test::chain_question({.cluster = {.node = 8}});
  const Plan changed = choices_on_cluster(copies_of_four(3, 3), question);
  EXPECT_EQ(changed.parallelism.block_devices, 2);  // the tightest
  EXPECT_EQ(changed.parallelism.zero_shards, 4);    // the whole group
}

TEST(FirstFitting, KeepsWhatIsPinned) {
  PlanQuestion question = test::chain_question({.cluster = {.node = 8}});
  question.space.block_devices = Choice(3);
  question.space.zero_shards = Choice(2);
  const Plan kept = choices_on_cluster(copies_of_four(3, 2), question);
  EXPECT_EQ(kept.parallelism.block_devices, 3);
  EXPECT_EQ(kept.parallelism.zero_shards, 2);
}

TEST(FirstFitting, TakesTheFirstPlanThatFits) {
  PlanQuestion question = test::chain_question({});
  question.options.top = kPlansTried;
  SearchResult found = ask(question);
  ASSERT_GT(found.plans.size(), 2U);
  BaselineResult all;
  judge_first_fitting(found, question, all);
  EXPECT_EQ(all.status, PlanStatus::feasible);
  EXPECT_EQ(all.plan->predicted->step, found.plans.front().predicted->step);
  EXPECT_TRUE(all.notes.empty());

  found.plans.front().parallelism.pipeline = 100;
  BaselineResult second;
  judge_first_fitting(found, question, second);
  EXPECT_EQ(second.status, PlanStatus::feasible);
  EXPECT_EQ(second.plan->predicted->step, found.plans[1].predicted->step);
  EXPECT_EQ(second.notes, std::vector<std::string>{"of its plans, number 2 is the first that fits"});
}

TEST(FirstFitting, SaysWhyTheFirstDoesNotFit) {
  PlanQuestion question = test::chain_question({});
  question.options.top = 2;
  const SearchResult found = ask(question);
  const PlanQuestion small = test::chain_question({.cluster = {.memory = 1e6}});
  BaselineResult none;
  judge_first_fitting(found, small, none);
  EXPECT_EQ(none.status, PlanStatus::infeasible);
  EXPECT_TRUE(none.plan);
  EXPECT_NE(none.reason.find("a device has"), std::string::npos) << none.reason;
  ASSERT_EQ(none.notes.size(), 2U);
  EXPECT_NE(none.notes[0].find("GB more than a device has"), std::string::npos) << none.notes[0];
  EXPECT_EQ(none.notes[1], "none of its first 2 plans fits");
}

TEST(FirstFitting, HasNoPlanWhereTheSearchHasNone) {
  const PlanQuestion question = test::chain_question({});
  SearchResult nothing;
  nothing.reason = "why";
  BaselineResult result;
  judge_first_fitting(nothing, question, result);
  EXPECT_EQ(result.status, PlanStatus::infeasible);
  EXPECT_FALSE(result.plan);
  EXPECT_EQ(result.reason, "why");
  nothing.status = PlanStatus::limit;
  judge_first_fitting(nothing, question, result);
  EXPECT_EQ(result.status, PlanStatus::limit);
}

}  // namespace
}  // namespace nest::solve
