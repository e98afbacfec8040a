#include "nest/solve/ask/simpler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/question/make_question.hpp"
#include "nest/solve/ask/test_prove.hpp"
#include "nest/solve/ask/verify.hpp"

namespace nest::solve {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// A plan of one stage for each recomputation, with room in memory.
Plan plan_of(double step, std::int64_t pipeline = 1, std::int64_t tensor = 1) {
  Plan plan;
  plan.parallelism.strategy.tensor = tensor;
  plan.parallelism.pipeline = pipeline;
  plan.stages.resize(static_cast<std::size_t>(pipeline));
  for (Stage& stage : plan.stages) stage.memory = StageMemory{.weights = Bytes{50}, .capacity = Bytes{100}};
  plan.predicted.emplace().step = Seconds{step};
  return plan;
}

SearchResult found(Plan plan) {
  return {.status = PlanStatus::optimal, .plans = {std::move(plan)}};
}

PlanQuestion question() {
  return make_question(test::example_inputs(), {});
}

Simpler simplified(const PlanQuestion& q, const Plan& best, const SearchFunction& searching) {
  Further further(0, searching);
  return simpler_plan(q, found(best), further);
}

TEST(Simpler, CountsComplications) {
  Plan plan = plan_of(1, 3, 2);
  plan.stages[1].recompute = {RecomputePolicy::full, 2};
  EXPECT_THAT(complications(plan),
              ElementsAre("recomputation that differs between layers or stages",
                          "degrees that are no powers of two", "pipeline parallelism", "tensor parallelism"));
  EXPECT_THAT(complications(plan_of(1)), IsEmpty());
}

TEST(Simpler, TakesThePlanWithoutAPipelineWhereItIsNear) {
  const Plan best = plan_of(1, 4);
  const Simpler answer = simplified(question(), best, [&](const PlanQuestion& q) {
    EXPECT_DOUBLE_EQ(q.options.slowest->value, 1.005);
    EXPECT_FALSE(q.options.least_memory);
    if (q.space.pipeline != Choice(1) || q.options.objective != Objective::step_time) return SearchResult{};
    Plan simple = plan_of(1.004);
    simple.parallelism.data = 4;
    return found(simple);
  });
  ASSERT_TRUE(answer.plan);
  EXPECT_EQ(answer.plan->parallelism.pipeline, 1);
  EXPECT_THAT(answer.avoids, ElementsAre("pipeline parallelism"));
}

// Bounds tell that every plan nearby has a pipeline: nobody searches for one without.
TEST(Simpler, BoundsSaveSearches) {
  SearchResult strict = found(plan_of(1, 4));
  strict.near_degrees = {strict.plans.front().parallelism};
  const SearchFunction searching = [](const PlanQuestion& q) {
    EXPECT_NE(q.space.pipeline, Choice(1));
    return SearchResult{};
  };
  Further further(0, searching);
  EXPECT_FALSE(simpler_plan(question(), strict, further).plan);
}

// What avoids one complication and brings another is not simpler.
TEST(Simpler, NeverTradesComplications) {
  const Simpler answer =
      simplified(question(), plan_of(1, 4), [&](const PlanQuestion&) { return found(plan_of(1.001, 1, 4)); });
  EXPECT_FALSE(answer.plan);
}

TEST(Simpler, ChoicesThatAreAskedForStay) {
  PlanQuestion asked = question();
  asked.space.pipeline = Choice(4);
  bool searched = false;
  const Simpler answer = simplified(asked, plan_of(1, 4), [&](const PlanQuestion& q) {
    searched = true;
    EXPECT_EQ(q.space.pipeline, Choice(4));
    return SearchResult{};
  });
  EXPECT_FALSE(answer.plan);
  EXPECT_FALSE(searched);
}

TEST(Simpler, LeavesRoomInMemoryWhereThatCostsNothing) {
  Plan best = plan_of(1);
  best.parallelism.data = 16;
  best.stages[0].memory = StageMemory{.weights = Bytes{95}, .margin = Bytes{3}, .capacity = Bytes{100}};
  const Simpler answer = simplified(question(), best, [&](const PlanQuestion& q) {
    if (q.options.memory_margin < 0.14) return SearchResult{};
    Plan roomy = plan_of(1.003);
    roomy.parallelism.data = 16;
    roomy.stages[0].memory = StageMemory{.weights = Bytes{80}, .margin = Bytes{15}, .capacity = Bytes{100}};
    return found(roomy);
  });
  ASSERT_TRUE(answer.plan);
  EXPECT_THAT(answer.avoids, Contains("memory that is full to 95 %"));
  EXPECT_EQ(answer.plan->stages[0].memory->margin, Bytes{3});  // what the question asks, not what was tried
}

// A plan for more devices is not simpler, whatever its degrees.
TEST(Simpler, NeverNeedsMoreDevices) {
  Plan best = plan_of(1, 3);
  best.parallelism.data = 2;
  int searches = 0;
  (void)simplified(question(), best, [&](const PlanQuestion& q) {
    ++searches;
    EXPECT_EQ(q.options.most_devices, 6);
    return SearchResult{};
  });
  EXPECT_GT(searches, 0);
}

// 60 % of the best plan's step on 12 devices is bubble: 4 devices take 1.2 % longer and stand in for it. What is simpler
// yet is looked for on no more than those, within half a percent of that plan and 2 % of the best.
TEST(Simpler, IdleDevicesRatherThanStagesThatWait) {
  Plan best = plan_of(1, 12);
  best.predicted->bubble_fraction = 0.6;
  int later = 0;
  const Simpler answer = simplified(question(), best, [&](const PlanQuestion& q) {
    if (q.options.objective == Objective::devices) {
      EXPECT_DOUBLE_EQ(q.options.slowest->value, later == 0 ? 1.02 : 1.012 * 1.005);
      return later == 0 ? found(plan_of(1.012, 4)) : SearchResult{};
    }
    ++later;
    EXPECT_EQ(q.options.most_devices, 4);
    EXPECT_DOUBLE_EQ(q.options.slowest->value, 1.012 * 1.005);
    return SearchResult{};
  });
  EXPECT_GT(later, 0);
  ASSERT_TRUE(answer.plan);
  EXPECT_EQ(answer.plan->parallelism.pipeline, 4);
  EXPECT_THAT(answer.avoids, Contains("8 devices in stages that mostly wait"));
  // With a little less bubble all of them are worth having.
  best.predicted->bubble_fraction = 0.5;
  EXPECT_FALSE(simplified(question(), best, [&](const PlanQuestion& q) {
                 return q.options.slowest->value > 1.01 ? found(plan_of(1.015, 4)) : SearchResult{};
               }).plan);
}

// Every number of stages and copies with fewer devices than the plan that stands in for the best is searched by itself:
// none is within 2 % of the best.
TEST(Simpler, NoFewerDevicesAreAsGood) {
  Warnings warnings;
  Asked asked;
  asked.devices = 2048;
  asked.global_batch = 32;
  asked.threads = 1;
  asked.choices.tensor = Choice(8);
  asked.choices.context = Choice(1);
  const PlanInputs inputs = load_inputs("llama3.1-8b", "h100-spine-leaf", "megatron", warnings);
  const PlanQuestion q = make_question(inputs, asked);
  const SearchResult strict = ask(q);
  const Plan& best = strict.plans.front();
  ASSERT_GT(best.predicted->bubble_fraction, kMostlyBubble);
  const SearchFunction searching = ask;
  Further further(strict.stats.work, searching);
  const Simpler answer = simpler_plan(q, strict, further);
  ASSERT_TRUE(answer.plan);
  const std::int64_t taken = answer.plan->parallelism.devices();
  EXPECT_LT(taken, best.parallelism.devices());
  int tried = 0;
  for (std::int64_t copies = 1; copies <= 32; copies *= 2) {
    for (std::int64_t stages = 1; stages <= 34 && 8 * stages * copies < taken; ++stages) {
      asked.choices.pipeline = Choice(stages);
      asked.choices.data = Choice(copies);
      const SearchResult fewer = ask(make_question(inputs, asked));
      if (fewer.plans.empty()) continue;
      ++tried;
      EXPECT_GT(fewer.plans.front().predicted->step, best.predicted->step * (1 + kNoise));
    }
  }
  EXPECT_GT(tried, 5);
}

// On random small spaces: within kNear of the strict optimum, no more complicated, feasible by a price of its own.
TEST(Simpler, RandomInstances) {
  const SearchFunction kAsk = ask;
  int simpler = 0;
  for (unsigned seed = 61'001; seed < 61'121; ++seed) {
    const test::Instance instance = test::random_instance(seed, 2'000);
    PlanQuestion q{instance.inputs, instance.training, instance.space, instance.options};
    q.options.objective = Objective::step_time;
    const SearchResult strict = ask(q);
    if (strict.plans.empty()) continue;
    const Plan& best = strict.plans.front();
    Further further(strict.stats.work, kAsk);
    const Simpler answer = simpler_plan(q, strict, further);
    if (!answer.plan) continue;
    ++simpler;
    const double near = best.predicted->bubble_fraction > kMostlyBubble ? kNoise : kNear;
    EXPECT_LE(answer.plan->predicted->step.value, best.predicted->step.value * (1 + near)) << instance.text;
    EXPECT_LE(answer.plan->parallelism.devices(), best.parallelism.devices()) << instance.text;
    EXPECT_LE(complications(*answer.plan).size(), complications(best).size()) << instance.text;
    EXPECT_FALSE(answer.avoids.empty()) << instance.text;
    const auto problem = verify_plan(*answer.plan, q.inputs, q.options.price_options());
    EXPECT_FALSE(problem) << *problem << "\n" << instance.text;
  }
  EXPECT_GT(simpler, 3);
}

}  // namespace
}  // namespace nest::solve
