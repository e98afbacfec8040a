#include "nest/solve/ask/why_not.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"
#include "nest/plan/changed_inputs.hpp"
#include "nest/plan/test_example.hpp"
#include "nest/question/make_question.hpp"

namespace nest::solve {
namespace {

Plan plan_of(std::int64_t tensor, double step) {
  Plan plan;
  plan.parallelism.strategy.tensor = tensor;
  plan.predicted.emplace().step = Seconds{step};
  return plan;
}

PlanQuestion question(const Asked& asked = {}) {
  return make_question(test::example_inputs(), asked);
}

std::string pinned(std::string_view text) {
  SearchSpace space;
  const auto problem = pin_choices(text, space);
  return problem ? problem->what : "";
}

TEST(WhyNot, ReadsOneChoiceOrSeveral) {
  SearchSpace space;
  EXPECT_FALSE(pin_choices("tensor=4  zero=1,3 micro_batch=2", space));
  EXPECT_EQ(space.tensor, Choice(4));
  EXPECT_TRUE(space.zero.has(3));
  EXPECT_FALSE(space.zero.has(2));
  EXPECT_EQ(space.micro_batch, Choice(2));
  EXPECT_FALSE(pin_choices("--schedule=gpipe", space));
  EXPECT_EQ(space.schedules, std::vector<Schedule>{Schedule::gpipe});
}

TEST(WhyNot, SaysWhatIsNoChoice) {
  EXPECT_EQ(pinned(""), "a choice is expected, as in tensor=4");
  EXPECT_EQ(pinned("tensor"), "'tensor' needs a value, as in tensor=4");
  EXPECT_EQ(pinned("zero"), "'zero' needs a value, as in zero=3");
  EXPECT_EQ(pinned("schedule"), "'schedule' needs a value, as in schedule=1f1b");
  EXPECT_EQ(pinned("sequence-parallel"), "'sequence-parallel' needs a value, as in sequence-parallel=on");
  EXPECT_EQ(pinned("tensro=4"), "there is no choice 'tensro'; did you mean 'tensor'?");
  EXPECT_EQ(pinned("weather=4"),
            "there is no choice 'weather'; write one as tensor=4, zero=3 or schedule=gpipe");
  EXPECT_EQ(pinned("tensor=x"), "tensor: 'x' is not a number, a list or a range; try 1,2,4 or 2..16");
}

TEST(WhyNot, CostsWhatTheBestPlanWithItTakesLonger) {
  Asked asked;
  asked.choices.tensor = Choice(8);
  asked.top = 5;
  const WhyNot answer = why_not(question(asked), "tensor=4", plan_of(8, 2), [](const PlanQuestion& q) {
    EXPECT_EQ(q.space.tensor, Choice(4));  // in place of what the question says
    EXPECT_EQ(q.options.top, 1);
    return SearchResult{.status = PlanStatus::optimal, .plans = {plan_of(4, 2.5)}};
  });
  EXPECT_FALSE(answer.chosen);
  ASSERT_TRUE(answer.cost);
  EXPECT_DOUBLE_EQ(answer.cost->value, 0.5);
}

TEST(WhyNot, TheBestPlanMayHaveItAlready) {
  const WhyNot answer = why_not(question(), "tensor=4", plan_of(4, 2), [](const PlanQuestion&) {
    return SearchResult{.status = PlanStatus::optimal, .plans = {plan_of(4, 2)}};
  });
  EXPECT_TRUE(answer.chosen);
}

TEST(WhyNot, AForbiddenChoiceKeepsItsReason) {
  const WhyNot answer = why_not(question(), "tensor=3", plan_of(4, 2), [](const PlanQuestion&) {
    return SearchResult{.status = PlanStatus::infeasible, .reason = "tensor 3 does not divide 64 heads"};
  });
  EXPECT_FALSE(answer.cost);
  EXPECT_EQ(answer.found.reason, "tensor 3 does not divide 64 heads");
}

// What `plan` refuses of a framework is not planned here either.
TEST(WhyNot, AChoiceThatTheFrameworkLacksCannotBe) {
  Asked asked;
  asked.framework = "deepspeed";
  const auto never = [](const PlanQuestion&) {
    ADD_FAILURE() << "nothing is to be searched";
    return SearchResult{};
  };
  const WhyNot answer = why_not(question(asked), "recompute=selective", plan_of(4, 2), never);
  EXPECT_FALSE(answer.cost);
  EXPECT_EQ(answer.found.status, PlanStatus::infeasible);
  EXPECT_EQ(answer.found.reason, "DeepSpeed has no recomputation selective");
}

// Three layers on one device of four: 8 micro-batches of 12 ms each.
TEST(WhyNot, AWholePlanIsPricedAsItIs) {
  const PlanQuestion q = question();
  const WhyNot answer = why_not_plan(q, "mine.json", test::example_plan({{0, 1, 2}}, 1, 1), plan_of(1, 0.05));
  EXPECT_TRUE(answer.given);
  ASSERT_EQ(answer.found.status, PlanStatus::feasible) << answer.found.reason;
  const double step = answer.found.plans.front().predicted->step.value;
  EXPECT_NEAR(step, 8 * 0.012, 0.01);
  EXPECT_DOUBLE_EQ(answer.cost->value, step - 0.05);
}

// Of costs: one device rents its node of two, for three times as long as two devices of one node.
TEST(WhyNot, SaysWhatTheObjectiveCounts) {
  PlanQuestion q = question();
  q.options.objective = Objective::cost;
  Plan both = plan_of(1, 0.032);
  both.stages.resize(1);
  both.stages[0].devices = {{DeviceId{0}}, {DeviceId{1}}};
  const WhyNot answer = why_not_plan(q, "mine.json", test::example_plan({{0, 1, 2}}, 1, 1), both);
  ASSERT_EQ(answer.found.status, PlanStatus::feasible) << answer.found.reason;
  const Plan& plan = answer.found.plans.front();
  EXPECT_TRUE(plan.placed());
  EXPECT_DOUBLE_EQ(answer.more, plan.predicted->step.value / 0.032 - 1);
}

TEST(WhyNot, SamePlans) {
  EXPECT_TRUE(same_plan(plan_of(4, 2), plan_of(4, 2 * (1 + 1e-12))));
  EXPECT_FALSE(same_plan(plan_of(4, 2), plan_of(4, 2.1)));
  EXPECT_FALSE(same_plan(plan_of(4, 2), plan_of(8, 2)));
}

TEST(WhyNot, APlanThatDoesNotFitKeepsItsPrice) {
  PlanQuestion q = question();
  q.inputs = with_memory(q.inputs, Bytes{500'000'000});
  const WhyNot answer = why_not_plan(q, "mine.json", test::example_plan({{0, 1, 2}}, 1, 1), plan_of(1, 0.05));
  EXPECT_EQ(answer.found.status, PlanStatus::infeasible);
  ASSERT_EQ(answer.found.plans.size(), 1U);
  EXPECT_TRUE(answer.cost);
  EXPECT_NE(answer.found.reason, "");
}

TEST(WhyNot, APlanThatIsNoneSaysWhy) {
  const WhyNot answer =
      why_not_plan(question(), "mine.json", test::example_plan({{0, 1}}, 1, 1), plan_of(1, 0.05));
  EXPECT_TRUE(answer.found.plans.empty());
  EXPECT_EQ(answer.found.status, PlanStatus::infeasible);
  EXPECT_NE(answer.found.reason.find("layer 2"), std::string::npos) << answer.found.reason;
}

TEST(WhyNot, ABadChoiceIsAnError) {
  EXPECT_THROW((void)why_not(question(), "tensor", plan_of(4, 2)), InputError);
}

}  // namespace
}  // namespace nest::solve
