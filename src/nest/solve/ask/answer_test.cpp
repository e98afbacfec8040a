#include "nest/solve/ask/answer.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/question/make_question.hpp"

namespace nest::solve {
namespace {

Plan plan_of(double step, std::int64_t pipeline) {
  Plan plan;
  plan.parallelism.pipeline = pipeline;
  plan.stages.resize(static_cast<std::size_t>(pipeline));
  for (Stage& stage : plan.stages) stage.memory = StageMemory{.weights = Bytes{50}, .capacity = Bytes{100}};
  plan.predicted.emplace().step = Seconds{step};
  return plan;
}

PlanQuestion question(const Asked& asked = {}) {
  PlanQuestion q = make_question(test::example_inputs(), asked);
  q.options.memory_margin = 0.05;
  return q;
}

// The best has four stages; without a margin a plan is faster, without stages it is hardly slower.
SearchResult search_of(const PlanQuestion& q) {
  if (q.options.memory_margin == 0) return {PlanStatus::optimal, {plan_of(0.9, 8)}};
  if (q.space.pipeline == Choice(1)) return {PlanStatus::optimal, {plan_of(1.002, 1)}};
  if (q.options.slowest) return {PlanStatus::infeasible, {}};
  SearchResult best{PlanStatus::optimal, {plan_of(1, 4)}};
  best.lower_bound = Seconds{1};
  return best;
}

TEST(Answer, ASimplerPlanAndThePriceOfSafety) {
  const SearchResult found = answer(question(), {}, search_of);
  EXPECT_EQ(found.plan().parallelism.pipeline, 1);
  EXPECT_EQ(found.plans.front().parallelism.pipeline, 4);
  EXPECT_EQ(found.lower_bound, Seconds{1});  // of the strict optimum
  EXPECT_EQ(found.plan().lower_bound, Seconds{1});
  EXPECT_EQ(found.plan().status, PlanStatus::optimal);
  ASSERT_TRUE(found.risky);
  EXPECT_EQ(found.risky->predicted->step, Seconds{0.9});
  EXPECT_TRUE(found.safety_known);
}

TEST(Answer, StrictOnDemand) {
  Asked asked;
  asked.strict = true;
  EXPECT_FALSE(answer(question(asked), {}, search_of).simpler);
  asked = {};
  asked.top = 3;
  EXPECT_FALSE(answer(question(asked), {}, search_of).simpler);
  asked = {};
  asked.gap = 0.1;
  EXPECT_FALSE(answer(question(asked), {}, search_of).simpler);
}

TEST(Answer, NothingMoreIsAskedWhereThereIsNoPlan) {
  int searches = 0;
  const SearchResult found = answer(question(), {}, [&](const PlanQuestion&) {
    ++searches;
    return SearchResult{PlanStatus::infeasible, {}};
  });
  EXPECT_TRUE(found.plans.empty());
  EXPECT_EQ(searches, 1);
}

}  // namespace
}  // namespace nest::solve
