#include "nest/solve/ask/answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "nest/plan/test_example.hpp"
#include "nest/plan/text/plan_json.hpp"
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
  EXPECT_TRUE(found.safety.known);
}

// Stopped by the number of its transitions a search finds the same everywhere: a plan without a margin that is
// faster, if not the fastest. Stopped by the clock it finds what the machine had time for, of which nothing is said.
TEST(Answer, WhatTheClockBreaksOffIsNotSaid) {
  const auto broken_off = [](const PlanQuestion& q) {
    if (!q.options.slowest) return search_of(q);
    SearchResult found = search_of(q);
    found.status = PlanStatus::feasible;
    return found;
  };
  const SearchResult by_work = answer(question(), {}, broken_off);
  ASSERT_TRUE(by_work.risky);
  EXPECT_FALSE(by_work.safety.known);
  EXPECT_TRUE(by_work.simpler);
  const SearchResult by_clock = answer(question(), {}, [&](const PlanQuestion& q) {
    if (q.options.slowest) q.options.deadline.cancel();
    return broken_off(q);
  });
  EXPECT_FALSE(by_clock.risky);
  EXPECT_FALSE(by_clock.safety.known);
  EXPECT_FALSE(by_clock.simpler);
  EXPECT_EQ(by_clock.status, PlanStatus::optimal);
  EXPECT_TRUE(by_clock.further_stopped);
  EXPECT_FALSE(by_work.further_stopped);
}

// Wherever the clock strikes, the plan is either the one of a search with time enough, or the strict optimum and says
// that it may not be the last word.
TEST(Answer, TheClockDecidesWhetherThereIsAnAnswerAndNotWhichOne) {
  // The best plan has two complications, each of which can be avoided.
  const auto two_steps = [](const PlanQuestion& q) -> SearchResult {
    const bool chunks = q.space.interleave != Choice(1);
    const bool stages = q.space.pipeline != Choice(1);
    if (q.options.memory_margin == 0) return {PlanStatus::infeasible, {}};
    Plan plan = plan_of(1 + (chunks ? 0 : 0.001) + (stages ? 0 : 0.001), stages ? 4 : 1);
    plan.parallelism.interleave = chunks && stages ? 2 : 1;
    SearchResult found{PlanStatus::optimal, {plan}};
    found.lower_bound = plan.predicted->step;
    return found;
  };
  int searches = 0;
  const auto run = [&](int strikes) {  // during the search of this number
    searches = 0;
    return answer(question(), {}, [&](const PlanQuestion& q) {
      SearchResult found = two_steps(q);
      if (++searches == strikes) {
        q.options.deadline.cancel();
        if (searches > 1) found.status = PlanStatus::feasible;
      }
      return found;
    });
  };
  const SearchResult whole = run(0);
  ASSERT_TRUE(whole.simpler);
  EXPECT_FALSE(whole.further_stopped);
  EXPECT_GE(whole.avoids.size(), 2U);
  const int all = searches;
  ASSERT_GE(all, 4);
  for (int strikes = 1; strikes <= all; ++strikes) {
    const SearchResult cut = run(strikes);
    EXPECT_TRUE(cut.further_stopped) << strikes;
    EXPECT_EQ(cut.plan().predicted->step, cut.simpler ? whole.plan().predicted->step : Seconds{1}) << strikes;
    EXPECT_EQ(cut.avoids, cut.simpler ? whole.avoids : std::vector<std::string>()) << strikes;
  }
}

// What ended before the clock struck is as true as ever.
TEST(Answer, WhatEndedInTimeIsSaid) {
  const SearchResult found = answer(question(), {}, [](const PlanQuestion& q) {
    if (q.options.slowest) q.options.deadline.cancel();
    return search_of(q);
  });
  ASSERT_TRUE(found.risky);
  EXPECT_TRUE(found.safety.known);
  EXPECT_FALSE(found.simpler);  // nothing is begun any more
  EXPECT_TRUE(found.further_stopped);
}

// One answer for any number of threads, with everything that is said besides the plan.
TEST(Answer, IsTheSameForAnyNumberOfThreads) {
  Warnings warnings;
  const PlanInputs inputs = load_inputs("llama2-7b", "dgx-a100-superpod", "megatron", warnings);
  const auto asked = [&](std::int64_t threads) {
    Asked a;
    a.devices = 64;
    a.global_batch = 256;
    a.threads = threads;
    return answer(make_question(inputs, a));
  };
  const SearchResult one = asked(1);
  ASSERT_TRUE(one.risky);
  for (const std::int64_t threads : {2, 5}) {
    const SearchResult other = asked(threads);
    EXPECT_EQ(to_json(plan_value(other.plan(), inputs)), to_json(plan_value(one.plan(), inputs))) << threads;
    ASSERT_TRUE(other.risky) << threads;
    EXPECT_EQ(other.risky->predicted->step, one.risky->predicted->step) << threads;
    EXPECT_EQ(other.safety.known, one.safety.known) << threads;
    EXPECT_EQ(other.avoids, one.avoids) << threads;
  }
}

// One device for 8 s costs less than two for 5 s; without a margin one takes 7 s.
TEST(Answer, ThePriceOfSafetyIsWhatTheObjectiveCounts) {
  Asked asked;
  asked.objective = Objective::cost;
  const SearchResult found = answer(question(asked), {}, [](const PlanQuestion& q) {
    EXPECT_FALSE(q.options.slowest);  // a cheaper plan may take longer
    SearchResult one{PlanStatus::optimal, {plan_of(q.options.memory_margin == 0 ? 7 : 8, 1)}};
    one.plans.front().stages[0].devices = {{DeviceId{0}}};
    one.lower_bound = one.plans.front().predicted->step;
    return one;
  });
  EXPECT_FALSE(found.simpler);
  EXPECT_TRUE(found.near_ties.empty());
  ASSERT_TRUE(found.risky);
  EXPECT_NEAR(found.safety.costs, 8.0 / 7 - 1, 1e-12);
  EXPECT_TRUE(found.safety.known);
}

// Within a gap nothing is certain but the bound: no plan without a margin takes less than 0.8 s.
TEST(Answer, WithAGapThePriceOfSafetyHasALimit) {
  Asked asked;
  asked.gap = 0.3;
  const SearchResult found = answer(question(asked), {}, [](const PlanQuestion& q) {
    SearchResult one{PlanStatus::feasible, {plan_of(1, 4)}};
    one.lower_bound = Seconds{q.options.memory_margin == 0 ? 0.8 : 0.9};
    return one;
  });
  EXPECT_FALSE(found.risky);  // the search without a margin found nothing faster
  EXPECT_FALSE(found.safety.known);
  EXPECT_NEAR(*found.safety.most, 0.25, 1e-12);
}

// Whoever asks for one plan is told of near ties that the search came across; a ranking has them anyway.
TEST(Answer, NearTiesThatTheSearchCameAcross) {
  int wanted = 0;
  const auto searching = [&](const PlanQuestion& q) {
    wanted = std::max(wanted, q.options.near_ties);
    return search_of(q);
  };
  (void)answer(question(), {}, searching);
  EXPECT_EQ(wanted, 3);
  wanted = 0;
  Asked asked;
  asked.runners_up = 3;
  (void)answer(question(asked), {}, searching);
  EXPECT_EQ(wanted, 0);
}

// Of a long time limit a part is kept for simpler plans, which are looked for first where the search took all of its
// own; a short one, and whoever wants the strict optimum, has all of it.
TEST(Answer, APartOfTheTimeIsForSimplerPlans) {
  const auto share = [](const Asked& asked) {
    std::optional<double> first;
    const PlanQuestion q = question(asked);
    (void)answer(q, {}, [&](const PlanQuestion& one) {
      if (!first) first = one.options.deadline.left()->value / q.options.deadline.left()->value;
      return search_of(one);
    });
    return *first;
  };
  Asked asked;
  asked.time_limit = Seconds{10'000};
  EXPECT_NEAR(share(asked), 0.85, 0.01);
  asked.strict = true;
  EXPECT_NEAR(share(asked), 1, 0.01);
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
