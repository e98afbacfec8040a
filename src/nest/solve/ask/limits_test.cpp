// Limits of time and memory, and searches that are cancelled: whenever they end, what they say is true.
#include <gtest/gtest.h>

#include <utility>

#include "nest/plan/test_example.hpp"
#include "nest/question/make_question.hpp"
#include "nest/solve/ask/search.hpp"
#include "nest/solve/ask/test_prove.hpp"
#include "nest/solve/ask/why_not.hpp"
#include "nest/solve/twin/test_plain_space.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

const Training& kTraining = test::kExampleTraining;
using test::plain_space;

PlanQuestion llama(int threads) {
  Warnings warnings;
  Asked asked;
  asked.devices = 16;
  asked.global_batch = 64;
  asked.threads = threads;
  asked.top = 5;
  asked.choices.micro_batch = Choice(1);
  asked.choices.schedules = {Schedule::one_f_one_b};
  return make_question(load_inputs("llama2-7b", "h100-spine-leaf", "plain", warnings), asked);
}

TEST(Limits, TimeThatIsUp) {
  SearchOptions options;
  options.deadline = Deadline(Seconds{0});
  const auto found = [&] { return ask({test::example_inputs(), kTraining, plain_space(), options}); };
  const SearchResult dived = found();
  EXPECT_EQ(dived.status, PlanStatus::feasible);
  ASSERT_FALSE(dived.plans.empty());
  EXPECT_LE(dived.lower_bound.value, 54.002e-3);
  EXPECT_EQ(dived.plans.front().lower_bound, dived.lower_bound);
  options.without = {"dive"};
  const SearchResult nothing = found();
  EXPECT_EQ(nothing.status, PlanStatus::limit);
  EXPECT_TRUE(nothing.plans.empty());
  EXPECT_EQ(nothing.reason, "no plan was found before the limit");
  EXPECT_GT(nothing.lower_bound.value, 0);
  EXPECT_LE(nothing.lower_bound.value, 54.002e-3);
  options.deadline = Deadline(Seconds{1e9});
  EXPECT_EQ(found().status, PlanStatus::optimal);
}

// A cancelled search ends as at a time limit: at once where nobody wants it, later with what it has and a
// bound.
TEST(Limits, Cancelled) {
  SearchOptions options;
  options.deadline.cancel();
  const auto found = [&] { return ask({test::example_inputs(), kTraining, plain_space(), options}); };
  const SearchResult nothing = found();
  EXPECT_EQ(nothing.status, PlanStatus::limit);
  EXPECT_TRUE(nothing.plans.empty());
  EXPECT_EQ(nothing.reason, "no plan was found before the limit");
  options.deadline = Deadline();
  EXPECT_EQ(found().status, PlanStatus::optimal);
}

// Little memory stops the search soon and more of it later, at the same place with any number of threads.
TEST(Limits, OfMemory) {
  const SearchResult whole = ask(llama(1));
  ASSERT_EQ(whole.status, PlanStatus::optimal);
  const double best = whole.plans.front().predicted->step.value;
  int stopped = 0;
  for (const std::int64_t limit : {0, 20'000, 60'000, 200'000, 2'000'000}) {
    std::vector<SearchResult> found;
    for (const int threads : {1, 3}) {
      PlanQuestion question = llama(threads);
      question.options.memory_limit = Bytes{limit};
      found.push_back(ask(question));
    }
    EXPECT_EQ(found[0].status, found[1].status) << limit;
    EXPECT_EQ(found[0].lower_bound, found[1].lower_bound) << limit;
    EXPECT_EQ(found[0].stats.work, found[1].stats.work) << limit;
    EXPECT_EQ(found[0].plans.size(), found[1].plans.size()) << limit;
    EXPECT_LE(found[0].lower_bound.value, best * (1 + 1e-9)) << limit;
    if (found[0].status == PlanStatus::optimal) continue;
    ++stopped;
    EXPECT_TRUE(found[0].status == PlanStatus::feasible || found[0].status == PlanStatus::limit) << limit;
    if (found[0].status == PlanStatus::limit) {
      EXPECT_FALSE(found[0].reason.empty());
    } else {
      EXPECT_GE(found[0].plans.front().predicted->step.value, best * (1 - 1e-9)) << limit;
    }
  }
  EXPECT_GT(stopped, 0);
  EXPECT_LT(stopped, 5);
}

// The stages of 34 layers alone take more.
TEST(Limits, MemoryForTheStages) {
  PlanQuestion question = llama(1);
  question.options.memory_limit = Bytes{100};
  const SearchResult found = ask(question);
  EXPECT_EQ(found.status, PlanStatus::limit);
  EXPECT_EQ(found.reason, "the ways to cut the layers into stages take more memory than the limit allows");
}

TEST(Limits, WhyNotSharesTheDeadline) {
  PlanQuestion question = llama(1);
  const SearchResult found = ask(question);
  question.options.deadline.cancel();
  const WhyNot other = why_not(question, "tensor=8", found.plans.front());
  EXPECT_EQ(other.found.status, PlanStatus::limit);
  EXPECT_FALSE(other.cost);
}

// What a device would need is only found where it is asked for.
TEST(Limits, LeastMemoryIsAChoice) {
  PlanQuestion question = llama(1);
  ClusterParts parts = question.inputs.cluster.parts();
  parts.accelerator.memory = Bytes{500'000'000};
  question.inputs.cluster = Cluster(std::move(parts));
  const SearchResult known = ask(question);
  EXPECT_EQ(known.status, PlanStatus::infeasible);
  EXPECT_GT(known.least_memory, question.inputs.cluster.device_memory());
  question.options.least_memory = false;
  const SearchResult unknown = ask(question);
  EXPECT_EQ(unknown.status, PlanStatus::infeasible);
  EXPECT_EQ(unknown.least_memory, Bytes{0});
}

SearchResult search_of(const test::Instance& instance, const SearchOptions& options) {
  return ask({instance.inputs, instance.training, instance.space, options});
}

// With more work the plan is no slower, the bound no lower, and a plan that was found stays found.
TEST(Limits, MoreWorkIsNeverWorse) {
  int better = 0;
  for (unsigned seed = 55'001; seed < 55'001 + 120; seed += test::stride()) {
    test::Instance instance = test::random_instance(seed, 1000);
    instance.options.objective = Objective::step_time;
    SearchOptions options = instance.options;
    std::optional<SearchResult> before;
    for (const std::int64_t limit : {1, 10, 100, 1'000, 10'000, 100'000'000}) {
      options.work_limit = limit;
      SearchResult found = search_of(instance, options);
      if (before && found.status != PlanStatus::infeasible) {
        ASSERT_GE(found.lower_bound.value, before->lower_bound.value * (1 - 1e-9)) << limit << instance.text;
        ASSERT_GE(found.plans.size(), before->plans.size()) << limit << instance.text;
        if (!before->plans.empty()) {
          const Seconds step = before->plans.front().predicted->step;
          const Seconds now = found.plans.front().predicted->step;
          ASSERT_LE(now.value, step.value * (1 + 1e-9)) << limit << instance.text;
          better += now < step ? 1 : 0;
        }
      }
      before = std::move(found);
    }
  }
  EXPECT_GT(test::often(better), 2);
}

// The same with time: whenever a search of one space is stopped, a longer one has a plan that is no slower.
TEST(Limits, MoreTimeIsNeverWorse) {
  Warnings warnings;
  const PlanInputs inputs = load_inputs("mixtral-8x7b", "h100-spine-leaf", "megatron", warnings);
  std::optional<Seconds> before;
  for (const double limit : {0.01, 0.05, 0.1, 0.2, 0.4, 1e6}) {
    Asked asked;
    asked.devices = 64;
    asked.global_batch = 128;
    asked.time_limit = Seconds{limit};
    const SearchResult found = search(inputs, asked);
    if (found.plans.empty()) {
      EXPECT_FALSE(before) << limit;
      continue;
    }
    const Seconds step = found.plans.front().predicted->step;
    if (before) {
      EXPECT_LE(step.value, before->value * (1 + 1e-9)) << limit;
    }
    before = step;
  }
  EXPECT_TRUE(before);
}

// Stages that may differ make the space much larger. Stopped after the same work, its plan is no worse than the one of the
// space in which they are alike, stopped after half of it; and more work is never worse there either.
TEST(Limits, StagesThatMayDifferAreNeverWorseThanStagesThatAreAlike) {
  int compared = 0;
  int earlier = 0;
  for (unsigned seed = 57'001; seed < 57'001 + 60; seed += test::stride()) {
    test::Instance instance = test::random_instance(seed, 1000);
    instance.options.objective = Objective::step_time;
    instance.options.target_tokens_per_s = 0;
    std::optional<Seconds> before;
    for (const std::int64_t limit : {2, 200, 2'000, 20'000, 200'000, 200'000'000}) {
      test::Instance alike = instance;
      alike.space.mixed = false;
      alike.options.work_limit = limit / 2;
      const SearchResult smaller = search_of(alike, alike.options);
      test::Instance mixed = instance;
      mixed.space.mixed = true;
      mixed.options.work_limit = limit;
      const SearchResult larger = search_of(mixed, mixed.options);
      if (smaller.plans.empty() && larger.plans.empty()) continue;
      ASSERT_FALSE(larger.plans.empty()) << limit << instance.text;
      const Seconds step = larger.plans.front().predicted->step;
      if (!smaller.plans.empty()) {
        ASSERT_LE(step.value, smaller.plans.front().predicted->step.value * (1 + 1e-9))
            << limit << instance.text;
        ++compared;
        earlier += smaller.status == PlanStatus::feasible ? 1 : 0;
      }
      if (before) {
        ASSERT_LE(step.value, before->value * (1 + 1e-9)) << limit << instance.text;
      }
      before = step;
    }
  }
  EXPECT_GT(test::often(compared), 40);
  EXPECT_GT(test::often(earlier), 5);
}

// A space with fewer recomputations and ZeRO stages is part of one with more: it has no better plan.
TEST(Limits, MoreChoicesAreNeverWorse) {
  int worse = 0;
  for (unsigned seed = 56'001; seed < 56'001 + 50; seed += test::stride()) {
    test::Instance instance = test::random_instance(seed, 1000);
    instance.options.objective = Objective::step_time;
    const SearchResult all = search_of(instance, instance.options);
    for (const Zero zero : Zero::all()) {
      if (!instance.space.zero.has(zero.number())) continue;
      test::Instance fewer = instance;
      fewer.space.zero = Choice(zero.number());
      const SearchResult some = search_of(fewer, fewer.options);
      if (some.plans.empty()) continue;
      ASSERT_FALSE(all.plans.empty()) << instance.text;
      const Seconds step = some.plans.front().predicted->step;
      ASSERT_LE(all.plans.front().predicted->step.value, step.value * (1 + 1e-9)) << instance.text;
      worse += step.value > all.plans.front().predicted->step.value * (1 + 1e-6) ? 1 : 0;
    }
  }
  EXPECT_GT(test::often(worse), 10);
}

}  // namespace
}  // namespace nest::solve
