#include "nest/solve/baselines/baselines.hpp"

#include <gtest/gtest.h>

#include <set>

#include "nest/plan/test_example.hpp"

namespace nest::solve {
namespace {

TEST(Baselines, EachHasANameOfItsOwnAndSaysWhatItKnows) {
  std::set<std::string_view> names;
  for (const Baseline& b : baselines()) {
    EXPECT_TRUE(names.insert(b.name).second) << b.name;
    EXPECT_EQ(find_baseline(b.name), &b);
    for (const std::string_view text : {b.title, b.does, b.knows, b.ignores})
      EXPECT_FALSE(text.empty()) << b.name;
    EXPECT_NE(b.find, nullptr) << b.name;
  }
  for (const char* name : {"manual", "mcmc", "alpa", "phaze", "flat", "no-memory"})
    EXPECT_TRUE(names.contains(name));
  EXPECT_EQ(find_baseline("nest"), nullptr);
}

TEST(Baselines, SayThatTheyWereNotFinished) {
  const PlanQuestion question{
      test::example_inputs(), {.global_batch = 8, .sequence = 512, .optimizer = Optimizer::sgd}, {}, {}};
  question.options.deadline.cancel();
  for (const Baseline& b : baselines()) {
    const BaselineResult result = ask_baseline(b, question);
    EXPECT_EQ(result.status, PlanStatus::limit) << b.name;
    EXPECT_FALSE(result.plan) << b.name;
    EXPECT_EQ(result.reason, "not finished within the time limit") << b.name;
  }
}

// Each notices by itself.
TEST(Baselines, LookAtTheDeadline) {
  const PlanQuestion question{
      test::example_inputs(), {.global_batch = 8, .sequence = 512, .optimizer = Optimizer::sgd}, {}, {}};
  question.options.deadline.cancel();
  for (const Baseline& b : baselines()) {
    try {
      EXPECT_EQ(b.find(question, {}).status, PlanStatus::limit) << b.name;
    } catch (const Stopped&) {
    }
  }
}

}  // namespace
}  // namespace nest::solve
