#include "nest/solve/ask/relaxations.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "nest/plan/changed_inputs.hpp"
#include "nest/price/price.hpp"
#include "nest/question/make_question.hpp"
#include "nest/solve/ask/counted.hpp"

namespace nest::solve {
namespace {

PlanQuestion llama(const std::string& model = "llama3.1-8b", std::int64_t devices = 16) {
  Warnings warnings;
  Asked asked;
  asked.devices = devices;
  asked.global_batch = 64;
  asked.threads = 1;
  asked.choices.recompute = {{RecomputePolicy::none, 0}, {RecomputePolicy::full, 0}};
  return make_question(load_inputs(model, "h100-spine-leaf", "megatron", warnings), asked);
}

const RelaxOptions kLong{.limit = Seconds{1e6}, .asking = {}};

// Whatever is said to make a choice the best is put to the test: searched with the change, it is.
void expect_true(const PlanQuestion& question, const WhyNot& answer, const Relaxations& list) {
  for (const Relaxation& one : list.all) {
    PlanQuestion changed = question;
    if (one.kind == RelaxationKind::margin) {
      changed.options.memory_margin = changed.asked.memory_margin.emplace(one.margin);
      EXPECT_LT(one.margin, question.options.memory_margin);
    } else if (one.kind == RelaxationKind::memory) {
      changed.inputs =
          with_memory(question.inputs,
                      Bytes{static_cast<std::int64_t>(std::llround(
                          one.factor * static_cast<double>(question.inputs.cluster.device_memory().value)))});
    } else {
      const auto& levels = question.inputs.cluster.levels();
      for (std::size_t l = 0; l < levels.size(); ++l) {
        if (levels[l].name == one.level)
          changed.inputs = with_bandwidth(question.inputs, LevelId{static_cast<std::int32_t>(l)}, one.factor);
      }
    }
    const SearchResult free = ask(changed);
    ASSERT_FALSE(free.plans.empty());
    const double best = free.plans.front().predicted->step.value;
    EXPECT_LE(one.step.value, best * (1 + 2e-6)) << one.change;
    const SearchResult own = ask(with_choice(changed, answer.choice));
    ASSERT_FALSE(own.plans.empty()) << one.change;
    EXPECT_NEAR(own.plans.front().predicted->step.value, one.step.value, 1e-6 * best) << one.change;
  }
}

TEST(Relaxations, AChoiceThatIsBestAfterThem) {
  const PlanQuestion question = llama();
  const Plan best = ask(question).plans.front();
  int found = 0;
  for (const char* choice : {"tensor=2", "pipeline=2", "zero=3", "recompute=full"}) {
    const WhyNot answer = why_not(question, choice, best);
    const Relaxations list = relaxations(question, answer, best, kLong);
    expect_true(question, answer, list);
    found += static_cast<int>(list.all.size());
    EXPECT_TRUE(list.tried() || !answer.cost || answer.cost->value <= 0) << choice;
  }
  EXPECT_GT(found, 0);
}

// Without tensor parallelism and with one copy the 70B model does not fit.
TEST(Relaxations, MemoryForWhatDoesNotFit) {
  const PlanQuestion question = llama("llama3.1-8b", 8);
  const Plan best = ask(question).plans.front();
  const WhyNot answer = why_not(question, "zero=0 tensor=1 pipeline=1", best);
  ASSERT_TRUE(answer.found.plans.empty());
  ASSERT_GT(answer.found.least_memory.value, 0);
  const Relaxations list = relaxations(question, answer, best, kLong);
  EXPECT_TRUE(list.memory);
  EXPECT_FALSE(list.bandwidth);
  expect_true(question, answer, list);
}

// The best plan without a margin is the best again with so much of one as it leaves free, which is tried before anything
// else is loosened further.
TEST(Relaxations, AMarginThatIsTooLarge) {
  Warnings warnings;
  Asked asked;
  asked.devices = 8;
  asked.global_batch = 64;
  asked.threads = 1;
  const PlanQuestion question =
      make_question(load_inputs("llama3.1-8b", "h100-spine-leaf", "megatron", warnings), asked);
  ASSERT_GT(question.options.memory_margin, 0.05);
  const Plan best = ask(question).plans.front();
  PlanQuestion without = question;
  without.options.memory_margin = 0;
  const Plan risky = ask(without).plans.front();
  ASSERT_LT(risky.predicted->step, best.predicted->step);
  const WhyNot answer = why_not_plan(question, "risky.json", risky, best);
  ASSERT_EQ(answer.found.status, PlanStatus::infeasible);
  const Relaxations list = relaxations(question, answer, best, kLong);
  EXPECT_TRUE(list.margin);
  ASSERT_FALSE(list.all.empty());
  const Relaxation& first = list.all.front();
  EXPECT_EQ(first.kind, RelaxationKind::margin);
  EXPECT_EQ(first.step, risky.predicted->step);
  EXPECT_TRUE(first.proved);
  // It is enough, and a tenth of a percent more would not be.
  const auto fits = [&](double margin) {
    return Pricer(question.inputs, {.memory_margin = margin}).price(risky).status == PriceStatus::feasible;
  };
  EXPECT_TRUE(fits(first.margin));
  EXPECT_FALSE(fits(first.margin + 0.001));
}

// Of costs: what makes it the cheapest, not the fastest.
TEST(Relaxations, OfTheCheapest) {
  PlanQuestion question = llama("llama3.1-8b", 16);
  question.options.objective = Objective::cost;
  question.asked.objective = Objective::cost;
  const Plan best = ask(question).plans.front();
  for (const char* choice : {"tensor=2", "pipeline=2"}) {
    const WhyNot answer = why_not(question, choice, best);
    ASSERT_FALSE(answer.found.plans.empty());
    EXPECT_GE(answer.more, -1e-9) << choice;
    for (const Relaxation& one : relaxations(question, answer, best, kLong).all) {
      if (one.kind != RelaxationKind::bandwidth) continue;
      PlanQuestion changed = question;
      const auto& levels = question.inputs.cluster.levels();
      for (std::size_t l = 0; l < levels.size(); ++l) {
        if (levels[l].name == one.level)
          changed.inputs = with_bandwidth(question.inputs, LevelId{static_cast<std::int32_t>(l)}, one.factor);
      }
      const Plan free = ask(changed).plans.front();
      const Plan own = ask(with_choice(changed, choice)).plans.front();
      EXPECT_LE(counted_more(Objective::cost, own, free, question.inputs.cluster), 2e-6) << one.change;
    }
  }
  PlanQuestion fewest = question;
  fewest.options.objective = Objective::devices;
  EXPECT_FALSE(relaxations(fewest, why_not(question, "tensor=2", best), best, kLong).tried());
}

TEST(Relaxations, NothingForWhatIsForbiddenOrBestAlready) {
  const PlanQuestion question = llama();
  const Plan best = ask(question).plans.front();
  const WhyNot forbidden = why_not(question, "tensor=3", best);
  ASSERT_TRUE(forbidden.found.plans.empty());
  EXPECT_FALSE(relaxations(question, forbidden, best, kLong).tried());
  const WhyNot same = why_not_plan(question, "best", best, best);
  EXPECT_TRUE(same.chosen);
  EXPECT_FALSE(relaxations(question, same, best, kLong).tried());
}

TEST(Relaxations, StopAtTheDeadline) {
  PlanQuestion question = llama();
  const Plan best = ask(question).plans.front();
  const WhyNot answer = why_not(question, "tensor=2", best);
  question.options.deadline.cancel();
  const Relaxations list = relaxations(question, answer, best);
  EXPECT_TRUE(list.all.empty());
  EXPECT_TRUE(list.stopped);
}

}  // namespace
}  // namespace nest::solve
