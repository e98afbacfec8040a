#include <gtest/gtest.h>

#include "nest/solve/table/fill.hpp"
#include "nest/solve/tree/test_samples.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

using test::FillCase;
using test::Sample;

Sample sample_of(unsigned seed) {
  return test::plain_sample(seed, [](const Plan& plan) { return plan.stages.size() >= 2; });
}

// A guess holds all layers once, is a plan of the table, and mostly a good one.
TEST(Guess, IsAPlanAndNoBetterThanTheBest) {
  int guessed = 0;
  int good = 0;
  test::for_samples(67'001, 150, 20, sample_of, [&](FillCase& c) {
    const TieQuestion ties = c.problem.ties(c.configuration).front();
    const PlanNetwork network = c.network(ties);
    StageOptions options = c.options(network);
    FillCounts counts;
    Filler filler(Prunings{});
    const auto guess = filler.guess(options, c.question(ties), counts);
    if (!guess) return;
    ++guessed;
    ASSERT_EQ(guess->stages.size(), c.stages());
    EXPECT_EQ(guess->stages.back().from, 0);
    EXPECT_EQ(guess->stages.front().to, options.setting().sets->all());
    for (std::size_t i = 0; i + 1 < c.stages(); ++i)
      EXPECT_EQ(guess->stages[i].from, guess->stages[i + 1].to);
    const auto best = filler.fill(options, c.question(ties), Seconds::most(), counts);
    ASSERT_TRUE(best);
    EXPECT_GE(guess->step.value, best->step.value * (1 - 1e-12));
    good += guess->step.value < 1.5 * best->step.value ? 1 : 0;
  });
  EXPECT_GT(test::often(guessed), 50);
  EXPECT_GT(2 * good, guessed);
}

}  // namespace
}  // namespace nest::solve
