#include "nest/solve/baselines/compare.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"
#include "nest/solve/ask/verify.hpp"
#include "nest/solve/baselines/baselines.hpp"
#include "nest/solve/baselines/common/judge.hpp"
#include "nest/solve/twin/test_instances.hpp"

namespace nest::solve {
namespace {

PlanQuestion example_question() {
  return {test::example_inputs(),
          {.global_batch = 8, .sequence = 512, .optimizer = Optimizer::sgd},
          {},
          {.threads = 1}};
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const Baseline& b : baselines()) names.emplace_back(b.name);
  return names;
}

bool fits(const BaselineResult& result) {
  return result.status == PlanStatus::optimal || result.status == PlanStatus::feasible;
}

TEST(Compare, AsksBaselinesOfOnesOwnLast) {
  CompareOptions options;
  const auto mine = [](const PlanQuestion& asked) {
    BaselineResult result;
    Plan plan;
    plan.training = asked.training;
    plan.training.micro_batch = plan.training.micro_batches = 0;
    plan.parallelism.data = 4;
    Pricer pricer = pricer_of(asked);
    judge(std::move(plan), pricer, result);
    return result;
  };
  options.own.emplace_back("mine", mine);
  const Comparison all = compare(example_question(), {"manual"}, options);
  ASSERT_EQ(all.plans.size(), 3U);
  EXPECT_EQ(all.plans[2].name, "mine");
  ASSERT_TRUE(fits(all.plans[2].result)) << all.plans[2].result.reason;
  EXPECT_EQ(all.plans[2].result.plan->parallelism.data, 4);
  EXPECT_LE(all.plans[2].relative.value(), 1 + 1e-9);
}

TEST(Compare, PutsOursFirstAndTheOthersAsAsked) {
  std::vector<std::string> asked;
  CompareOptions options;
  options.baseline.evaluations = 200;
  options.asking = [&](std::string_view name) { asked.emplace_back(name); };
  const Comparison all = compare(example_question(), {"phaze", "manual", "mcmc"}, options);
  ASSERT_EQ(all.plans.size(), 4U);
  EXPECT_EQ(asked, (std::vector<std::string>{"nest", "phaze", "manual", "mcmc"}));
  EXPECT_EQ(all.plans[0].name, "nest");
  EXPECT_EQ(all.plans[0].result.status, PlanStatus::optimal);
  EXPECT_DOUBLE_EQ(all.plans[0].relative.value(), 1);
  EXPECT_FALSE(all.plans[0].loses);
  EXPECT_EQ(all.find("manual"), &all.plans[2]);
  EXPECT_EQ(all.find("alpa"), nullptr);
}

TEST(Compare, SaysByWhichTermAPlanLoses) {
  CompareOptions options;
  options.degrees = {{"one device", {1, 1, 1}}};
  const Comparison all = compare(example_question(), {}, options);
  const ComparedPlan* one = all.find("one device");
  ASSERT_TRUE(one != nullptr && one->relative && one->loses) << one->result.reason;
  EXPECT_LT(*one->relative, 1);
  EXPECT_EQ(one->loses->name, "compute");
}

// The claim of `nest compare`: their plans lie in our space, so ours is never worse; and every plan is what
// check and price say of it.
TEST(Compare, OursIsNeverWorse) {
  constexpr unsigned kInstances = 150;
  CompareOptions options;
  options.baseline.evaluations = 150;
  int judged = 0;
  int strictly = 0;
  for (unsigned seed = 1; seed <= kInstances; ++seed) {
    test::Instance instance = test::random_instance(700'000 + seed, 2'000);
    instance.options.objective = Objective::step_time;
    instance.options.threads = 1;
    const PlanQuestion question{instance.inputs, instance.training, instance.space, instance.options};
    options.baseline.seed = seed;
    const Comparison all = compare(question, all_names(), options);
    const BaselineResult& ours = all.plans.front().result;
    if (ours.status != PlanStatus::optimal && ours.status != PlanStatus::infeasible) continue;
    for (std::size_t i = 1; i < all.plans.size(); ++i) {
      const ComparedPlan& other = all.plans[i];
      if (!fits(other.result)) continue;
      const std::string where = other.name + ", seed " + std::to_string(700'000 + seed);
      ASSERT_TRUE(ours.plan) << where << ": ours says that nothing fits";
      const double step = other.result.plan->predicted->step.value;
      const double best = ours.plan->predicted->step.value;
      EXPECT_GE(step, best * (1 - kPriceTolerance)) << where << "\n" << instance.text.substr(0, 400);
      EXPECT_EQ(verify_plan(*other.result.plan, instance.inputs, instance.options.price_options()),
                std::nullopt)
          << where;
      ++judged;
      strictly += step > best * (1 + kPriceTolerance) ? 1 : 0;
    }
  }
  EXPECT_GT(judged, 300);
  EXPECT_GT(strictly, 50);
}

TEST(Compare, WhatIsCancelledIsNotFinished) {
  const PlanQuestion question = example_question();
  CompareOptions options;
  options.asking = [&](std::string_view name) {
    if (name == "phaze") question.options.deadline.cancel();
  };
  options.degrees = {{"one device", {1, 1, 1}}};
  const Comparison all = compare(question, {"manual", "phaze"}, options);
  ASSERT_EQ(all.plans.size(), 4U);
  EXPECT_EQ(all.plans[0].result.status, PlanStatus::optimal);
  EXPECT_EQ(all.plans[1].result.status, PlanStatus::feasible);
  for (const std::size_t i : {2U, 3U}) {
    EXPECT_EQ(all.plans[i].result.status, PlanStatus::limit);
    EXPECT_EQ(all.plans[i].result.reason, "not finished within the time limit");
    EXPECT_FALSE(all.plans[i].relative);
  }
}

}  // namespace
}  // namespace nest::solve
