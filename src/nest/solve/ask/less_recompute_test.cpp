#include "nest/solve/ask/less_recompute.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/price/layers/cost_book.hpp"
#include "nest/solve/ask/search.hpp"
#include "nest/solve/ask/test_prove.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

constexpr Recompute kFull{RecomputePolicy::full, 0};
constexpr Recompute kNone{RecomputePolicy::none, 0};

// The example with a first stage of 9 ms and a second of 3 ms, which recomputes for 1 ms more. The paper's
// formula looks at the longest stage only, so that the second has time for it.
class LessRecomputeExample : public ::testing::Test {
 protected:
  LessRecomputeExample()
      : plan(test::example_plan({{0, 1}, {2}}, 1, 1)), pricer(inputs, {PipelineModel::paper}) {
    plan = pricer.complete(plan);
    plan.stages[1].recompute = kFull;
  }

  PlanInputs inputs = test::example_inputs();
  CostBook book{inputs};
  const LayerGraph& graph = book.model(1, {.sequence = 512}).graph;
  Plan plan;
  Pricer pricer;
};

TEST_F(LessRecomputeExample, RecomputationThatBuysNothingGoes) {
  ASSERT_EQ(pricer.price(plan).status, PriceStatus::feasible);
  const Seconds before = pricer.price(plan).predicted.step;
  const Plan less = less_recompute(pricer, graph, {}, plan);
  EXPECT_EQ(less.stages[1].recompute, kNone);
  EXPECT_EQ(pricer.price(less).predicted.step, before);
}

TEST_F(LessRecomputeExample, StaysWhatTheSpaceAllows) {
  const LessRecompute only{RecomputeChoices({kFull}), false};
  EXPECT_EQ(less_recompute(pricer, graph, only, plan).stages[1].recompute, kFull);
  plan.stages[0].recompute = kFull;
  const LessRecompute same{RecomputeChoices(), true};
  const Plan less = less_recompute(pricer, graph, same, plan);
  EXPECT_EQ(less.stages[0].recompute, kNone);
  EXPECT_EQ(less.stages[1].recompute, kNone);
}

// Answers of random searches: no stage could recompute less without taking longer, or more memory than there
// is.
TEST(LessRecompute, OfAnswersNothingIsLeftToGain) {
  int recomputing = 0;
  for (unsigned seed = 1; seed <= 400; seed += test::stride()) {
    const test::Instance i = test::random_instance(seed, 300);
    if (i.space.same_recompute || i.space.rules != nullptr || !i.space.recompute.empty()) continue;
    const SearchResult found = ask({i.inputs, i.training, i.space, i.options});
    if (found.plans.empty()) continue;
    Plan plan = found.plans.front();
    const Seconds step = plan.predicted->step;
    Pricer pricer(i.inputs, i.options.price_options());
    for (Stage& stage : plan.stages) {
      if (stage.recompute == kNone) continue;
      ++recomputing;
      const Recompute own = stage.recompute;
      stage.recompute = kNone;
      const PricedPlan without = pricer.price(plan);
      EXPECT_TRUE(without.status != PriceStatus::feasible || without.predicted.step > step * (1 + 1e-9))
          << i.text;
      stage.recompute = own;
    }
  }
  EXPECT_GT(test::often(recomputing), 10);
}

}  // namespace
}  // namespace nest::solve
