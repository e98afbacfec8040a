#include "nest/solve/ask/why.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "nest/question/make_question.hpp"

namespace nest::solve {
namespace {

PlanQuestion llama(Asked asked = {}) {
  Warnings warnings;
  asked.devices = 64;
  asked.global_batch = 64;
  asked.threads = 1;
  return make_question(load_inputs("llama3.1-8b", "h100-spine-leaf", "megatron", warnings), asked);
}

Plan plan_of(std::int64_t tensor, std::int64_t pipeline, double step) {
  Plan plan;
  plan.parallelism.strategy.tensor = tensor;
  plan.parallelism.pipeline = pipeline;
  plan.parallelism.data = 64 / tensor / pipeline;
  plan.parallelism.zero = 1;
  plan.stages.resize(static_cast<std::size_t>(pipeline));
  for (Stage& stage : plan.stages) stage.layers.resize(static_cast<std::size_t>(34 / pipeline));
  plan.predicted.emplace().step = Seconds{step};
  return plan;
}

std::vector<std::string> choices(const Why& why) {
  std::vector<std::string> out;
  for (const Alternative& one : why.all) out.push_back(one.answer.choice);
  return out;
}

using Texts = std::vector<std::string>;

TEST(Why, AsksForTheValuesNextToThoseOfTheBestPlan) {
  const auto slower = [](const PlanQuestion&) {
    return SearchResult{.status = PlanStatus::optimal, .plans = {plan_of(1, 1, 3)}};
  };
  const Why answer = why(llama(), plan_of(4, 2, 2), {}, slower);
  EXPECT_EQ(choices(answer),
            (Texts{"tensor=2", "tensor=8", "pipeline=1", "pipeline=4", "data=4", "data=16", "zero=0",
                   "zero=2", "recompute=selective", "schedule=interleaved", "micro-batch=2"}));
  EXPECT_FALSE(answer.stopped);
  for (const Alternative& one : answer.all) EXPECT_DOUBLE_EQ(one.answer.cost->value, 1);
}

TEST(Why, LeavesOutWhatTheQuestionFixes) {
  Asked asked;
  asked.choices.tensor = Choice(4);
  asked.choices.zero = Choice(1);
  asked.choices.schedules = {Schedule::one_f_one_b};
  const Why answer =
      why(llama(asked), plan_of(4, 2, 2), {}, [](const PlanQuestion&) { return SearchResult{}; });
  for (const std::string& choice : choices(answer)) {
    EXPECT_FALSE(choice.starts_with("tensor=")) << choice;
    EXPECT_FALSE(choice.starts_with("zero=")) << choice;
    EXPECT_FALSE(choice.starts_with("schedule=")) << choice;
  }
}

// What does not fit is looked at with as much memory as it needs.
TEST(Why, FindsWhatTheMemoryIsNeededFor) {
  const Bytes needs{std::int64_t{100} << 30};
  const auto searching = [&](const PlanQuestion& q) {
    SearchResult found;
    if (q.inputs.cluster.device_memory() == needs)
      return SearchResult{.status = PlanStatus::feasible, .plans = {plan_of(1, 1, 9)}};
    found.least_memory = needs;
    return found;
  };
  const Why answer = why(llama(), plan_of(4, 2, 2), {}, searching);
  ASSERT_FALSE(answer.all.empty());
  for (const Alternative& one : answer.all) {
    EXPECT_TRUE(one.answer.found.plans.empty());
    ASSERT_TRUE(one.smallest) << one.answer.choice;
  }
}

TEST(Why, StopsAtTheDeadline) {
  PlanQuestion question = llama();
  question.options.deadline.cancel();
  const Why answer = why(question, plan_of(4, 2, 2));
  EXPECT_TRUE(answer.stopped);
  EXPECT_FALSE(answer.all.empty());
  for (const Alternative& one : answer.all) EXPECT_EQ(one.answer.found.status, PlanStatus::limit);
}

// Of a real answer no alternative is faster, and each has the value that it is about.
TEST(Why, NoAlternativeIsFasterThanTheBestPlan) {
  const PlanQuestion question = llama();
  const SearchResult found = ask(question);
  const Why answer = why(question, found.plans.front(), {.limit = Seconds{1e6}});
  EXPECT_GT(answer.all.size(), 4U);
  for (const Alternative& one : answer.all) {
    if (one.answer.found.plans.empty()) continue;
    EXPECT_GE(one.answer.cost->value, -1e-9) << one.answer.choice;
    const Plan& plan = one.answer.found.plans.front();
    if (one.degree == "tensor") {
      EXPECT_EQ(std::to_string(plan.parallelism.strategy.tensor), one.value);
    }
    if (one.degree == "pipeline") {
      EXPECT_EQ(std::to_string(plan.parallelism.pipeline), one.value);
    }
    if (one.degree == "micro-batch") {
      EXPECT_EQ(std::to_string(plan.training.micro_batch), one.value);
    }
  }
}

}  // namespace
}  // namespace nest::solve
