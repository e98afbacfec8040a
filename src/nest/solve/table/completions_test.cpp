#include "nest/solve/table/completions.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "nest/solve/tree/test_samples.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

using test::FillCase;
using test::Sample;

Sample sample_of(unsigned seed) {
  return test::plain_sample(seed, [](const Plan& plan) { return plan.stages.size() >= 3; });
}

template <class Look>
void for_tables(unsigned first, unsigned count, Look look) {
  test::for_samples(first, count, 20, sample_of, [&](FillCase& c) {
    for (const TieQuestion& ties : c.problem.ties(c.configuration)) {
      const PlanNetwork network = c.network(ties);
      StageOptions options = c.options(network);
      look(options, c.question(ties));
    }
  });
}

// The best stages bring no less than what is said of all, with any number of them at the front.
TEST(Completions, NoStagesBringLess) {
  int found = 0;
  for_tables(64'001, 150, [&](StageOptions& options, const FillQuestion& question) {
    const Prunings prunings;
    FillCounts counts;
    const auto filled = Filler(prunings).fill(options, question, Seconds::most(), counts);
    if (!filled) return;
    ++found;
    const Completions completions(options, question, prunings, Seconds::most(), counts);
    const std::vector<Floor> floors = layer_floors(options);
    Completion front;
    for (std::size_t i = 0; i < filled->stages.size(); ++i) {
      const FilledStage& stage = filled->stages[i];
      const Completion& least = completions.of(static_cast<std::int64_t>(i) + 1, stage.from);
      ASSERT_TRUE(least.possible());
      const auto moves = options.setting().sets->moves(stage.from);
      const auto move =
          std::find_if(moves.begin(), moves.end(), [&](const Move& m) { return m.to == stage.to; });
      ASSERT_NE(move, moves.end());
      std::vector<StageOption>& choices = options.of(stage.place, move->stage_class);
      const auto own = std::find_if(choices.begin(), choices.end(), [&](const StageOption& option) {
        return option.recompute == stage.recompute;
      });
      ASSERT_NE(own, choices.end());
      front.pass = std::max(front.pass, (own->f + own->b).value);
      front.longest = std::max({front.longest, own->f.value, own->b.value});
      front.hidden += own->hidden.value;
      front.optimizer = std::max(front.optimizer, own->optimizer.value);
      front.slow_down = std::max(front.slow_down, own->slow_down.value);
      front.norm = std::max(front.norm, own->norm.value);
      for (double Completion::* part : {&Completion::pass, &Completion::longest, &Completion::hidden,
                                        &Completion::optimizer, &Completion::slow_down, &Completion::norm})
        EXPECT_LE(least.*part, front.*part * (1 + 1e-12) + 1e-15);
    }
  });
  EXPECT_GT(test::often(found), 50);
}

// With them a table finds the same stages, however tight the threshold, and keeps fewer labels.
TEST(Completions, FindTheSameWithLess) {
  std::int64_t with = 0;
  std::int64_t without = 0;
  for_tables(65'001, 200, [&](StageOptions& options, const FillQuestion& question) {
    const Prunings prunings;
    Filler filler(prunings);
    FillCounts counts;
    const auto best = filler.fill(options, question, Seconds::most(), counts);
    for (const double share : {0.9, 0.999, 1 + 1e-12, 1.02, 2.0}) {
      const Seconds threshold = best ? share * best->step : Seconds{1};
      FillCounts plain;
      FillCounts fewer;
      const auto all = filler.fill(options, question, threshold, plain);
      const Completions completions(options, question, prunings, threshold, counts);
      FillQuestion own = question;
      own.completions = &completions;
      const auto same = filler.fill(options, own, threshold, fewer);
      if (share > 1 && best) {
        ASSERT_TRUE(same) << "within " << share << " of the best";
        EXPECT_NEAR(same->step.value, best->step.value, 1e-9 * best->step.value);
      }
      if (same) {
        ASSERT_TRUE(all);
        EXPECT_GE(same->step.value, best->step.value * (1 - 1e-12));
      }
      with += fewer.labels;
      without += plain.labels;
    }
  });
  EXPECT_GT(test::often(without), with);
}

TEST(Completions, TooFewLayersAreImpossible) {
  for_tables(66'001, 10, [&](StageOptions& options, const FillQuestion& question) {
    FillCounts counts;
    const Completions completions(options, question, {}, Seconds::most(), counts);
    const std::int32_t all = options.setting().sets->all();
    EXPECT_TRUE(completions.of(0, all).possible());
    EXPECT_FALSE(completions.of(1, all).possible());
    EXPECT_FALSE(completions.of(0, 0).possible());
  });
}

}  // namespace
}  // namespace nest::solve
