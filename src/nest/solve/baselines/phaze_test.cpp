#include "nest/solve/baselines/phaze.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "nest/solve/baselines/common/test_never_better.hpp"
#include "nest/solve/baselines/common/test_questions.hpp"

namespace nest::solve {
namespace {

TEST(Phaze, NarrowsWhatIsOpen) {
  const SearchSpace space = phaze_space(test::config_question(test::llama_config(8, 8), {}));
  EXPECT_EQ(space.schedules, std::vector<Schedule>{Schedule::one_f_one_b});
  EXPECT_EQ(space.zero.spell(), "0");
  EXPECT_EQ(space.context.spell(), "1");
  EXPECT_EQ(space.recompute.size(), 2U);
  EXPECT_TRUE(space.same_recompute);
  EXPECT_TRUE(space.pipeline.open() && space.tensor.open() && space.data.open() && space.expert.open());
}

TEST(Phaze, KeepsWhatIsPinned) {
  PlanQuestion question = test::config_question(test::llama_config(8, 8), {});
  question.space.zero = Choice(3);
  question.space.interleave = Choice(2);
  question.space.context = Choice(2);
  question.space.recompute = {{RecomputePolicy::selective, 0}};
  const SearchSpace space = phaze_space(question);
  EXPECT_EQ(space.zero, Choice(3));
  EXPECT_TRUE(space.schedules.empty());
  EXPECT_EQ(space.context, Choice(2));
  EXPECT_EQ(space.recompute.size(), 1U);
  EXPECT_FALSE(space.same_recompute);
}

TEST(Phaze, CrossesSlowLinksWhereTheSearchDoesNot) {
  const PlanQuestion question = test::chain_question({.cluster = {.spine = 2e8}});
  const BaselineResult phaze = find_phaze(question, {});
  const SearchResult ours = ask(question);
  ASSERT_EQ(phaze.status, PlanStatus::feasible) << phaze.reason;
  EXPECT_EQ(phaze.plan->parallelism.copies(), 8);  // gradients cross the spine
  EXPECT_LT(ours.plans.front().parallelism.copies(), 8);
  EXPECT_GT(phaze.plan->predicted->step.value, 5 * ours.plans.front().predicted->step.value);
  EXPECT_LT(5 * phaze.believed->value, phaze.plan->predicted->step.value);
}

// It knows memory: 8 layers that keep 1 GB each do not fit one device of 6 GB, several stages do.
TEST(Phaze, LooksAtMemory) {
  const PlanQuestion question = test::chain_question({.cluster = {.memory = 6e9}, .activation_bytes = 1e9});
  const BaselineResult phaze = find_phaze(question, {});
  ASSERT_EQ(phaze.status, PlanStatus::feasible) << phaze.reason;
  EXPECT_TRUE(phaze.notes.empty());
  EXPECT_EQ(phaze.plan->parallelism.zero.number(), 0);
  EXPECT_EQ(phaze.plan->parallelism.schedule, Schedule::one_f_one_b);
  const std::vector<Stage>& stages = phaze.plan->stages;
  EXPECT_TRUE(std::all_of(stages.begin(), stages.end(),
                          [&](const Stage& s) { return s.recompute == stages.front().recompute; }));
}

TEST(Phaze, IsNeverBetterThanTheSearch) {
  test::never_better(find_phaze, 1001, 200);
}

}  // namespace
}  // namespace nest::solve
