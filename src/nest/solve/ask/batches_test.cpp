#include "nest/solve/ask/batches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/question/make_question.hpp"
#include "nest/solve/ask/test_prove.hpp"

namespace nest::solve {
namespace {

using testing::IsEmpty;

Plan plan_of(std::int64_t batch, double step) {
  Plan plan;
  plan.training.global_batch = batch;
  plan.predicted.emplace().step = Seconds{step};
  return plan;
}

PlanQuestion question() {
  Asked asked;
  asked.global_batch = 512;
  return make_question(test::example_inputs(), asked);
}

TEST(Batches, TakesTheOneWithTheHighestThroughput) {
  const SearchResult found = ask_batches(question(), {512, 504}, [](const PlanQuestion& q) {
    if (q.training.global_batch == 512) return SearchResult{PlanStatus::optimal, {plan_of(512, 2)}};
    EXPECT_DOUBLE_EQ(q.options.slowest->value, 504.0 / 256);  // 256 a second are known
    return SearchResult{PlanStatus::optimal, {plan_of(504, 1.5)}};
  });
  EXPECT_EQ(found.status, PlanStatus::optimal);
  EXPECT_EQ(found.plans.front().training.global_batch, 504);
  EXPECT_EQ(found.lower_bound, Seconds{1.5});
}

// 510 sequences could be done in 1.7 s by what is known: the bound of 512 has as many a second.
TEST(Batches, ABoundHoldsOverAllBatches) {
  const SearchResult found = ask_batches(question(), {512, 510}, [](const PlanQuestion& q) {
    SearchResult one{PlanStatus::feasible, {}};
    if (q.training.global_batch == 512) {
      one = {PlanStatus::optimal, {plan_of(512, 2)}};
      one.lower_bound = Seconds{2};
    } else {
      one.status = PlanStatus::limit;
      one.lower_bound = Seconds{1.7};
    }
    return one;
  });
  EXPECT_EQ(found.status, PlanStatus::feasible);
  EXPECT_EQ(found.plans.front().training.global_batch, 512);
  EXPECT_NEAR(found.lower_bound.value, 512 * 1.7 / 510, 1e-12);
}

// What was searched for a while has a bound; what was never begun has none, and nothing is said of all.
TEST(Batches, AnUnfinishedBatchHasTheBoundThatItHas) {
  const auto searching = [](const PlanQuestion& q) {
    if (q.training.global_batch == 512) {
      SearchResult one{PlanStatus::feasible, {plan_of(512, 2)}};
      one.lower_bound = Seconds{1.9};
      return one;
    }
    return SearchResult{PlanStatus::limit, {}};  // before the tree
  };
  const SearchResult found = ask_batches(question(), {512, 510, 514}, searching);
  EXPECT_EQ(found.status, PlanStatus::feasible);
  EXPECT_EQ(found.lower_bound, Seconds{1.9});  // of the plan's own batch
  ASSERT_TRUE(found.batches);
  EXPECT_EQ(found.batches->asked, 3U);
  EXPECT_EQ(found.batches->bounded, 1U);
  EXPECT_NEAR(found.batches->most_per_s, 512 / 1.9, 1e-9);
}

// A batch of which no plan beats the best so far is done with.
TEST(Batches, TheProofIsOfThroughput) {
  const SearchResult found = ask_batches(question(), {512, 510}, [](const PlanQuestion& q) {
    if (q.training.global_batch == 510) return SearchResult{PlanStatus::infeasible, {}};
    SearchResult one{PlanStatus::optimal, {plan_of(512, 2)}};
    one.lower_bound = Seconds{2};
    return one;
  });
  EXPECT_EQ(found.status, PlanStatus::optimal);
  EXPECT_EQ(found.batches->bounded, 2U);
  EXPECT_DOUBLE_EQ(found.batches->most_per_s, 256);
}

TEST(Batches, ProgressNamesTheBatch) {
  std::vector<std::int64_t> told;
  PlanQuestion asked = question();
  asked.options.progress = [&](const SearchProgress& p) { told.push_back(p.batch); };
  (void)ask_batches(asked, {512, 504}, [](const PlanQuestion& q) {
    q.options.progress({});
    return SearchResult{PlanStatus::infeasible, {}};
  });
  EXPECT_EQ(told, (std::vector<std::int64_t>{512, 504}));
}

TEST(Batches, NearOnesAreTriedWhereDevicesDoNotGoWithTheBatch) {
  PlanQuestion asked = question();
  Plan best = plan_of(512, 1);
  best.parallelism.data = asked.inputs.cluster.devices();
  EXPECT_THAT(near_batches(asked, best), IsEmpty());  // all work, and the batch goes with them
  best.parallelism.data = 2;
  for (const std::int64_t batch : near_batches(asked, best)) {
    EXPECT_NE(batch, 512);
    EXPECT_GE(batch, 487);
    EXPECT_LE(batch, 537);
  }
}

// Every batch searched by itself, on random small spaces.
TEST(Batches, AreAsGoodAsTheBestOfSingleSearches) {
  int other = 0;
  for (unsigned seed = 62'001; seed < 62'091; ++seed) {
    const test::Instance instance = test::random_instance(seed, 300);
    PlanQuestion q{instance.inputs, instance.training, instance.space, instance.options};
    q.options.objective = Objective::step_time;
    if (instance.inputs.profile() != nullptr) continue;
    const std::int64_t nominal = q.training.global_batch;
    const std::vector<std::int64_t> batches{nominal, nominal + 1, nominal + 2, nominal + 3};
    double best = 0;
    for (const std::int64_t batch : batches) {
      PlanQuestion one = q;
      one.training.global_batch = batch;
      const SearchResult found = ask(one);
      if (!found.plans.empty())
        best = std::max(best, static_cast<double>(batch) / found.plans.front().predicted->step.value);
    }
    q.batches = batches;
    const SearchResult found = ask(q);
    ASSERT_EQ(found.plans.empty(), best == 0) << instance.text;
    if (found.plans.empty()) continue;
    const Plan& plan = found.plans.front();
    EXPECT_NEAR(static_cast<double>(plan.training.global_batch) / plan.predicted->step.value, best,
                1e-9 * best)
        << instance.text;
    EXPECT_EQ(found.status, PlanStatus::optimal) << instance.text;
    other += plan.training.global_batch != nominal ? 1 : 0;
  }
  EXPECT_GT(other, 5);
}

}  // namespace
}  // namespace nest::solve
