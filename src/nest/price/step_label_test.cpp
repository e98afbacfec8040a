#include "nest/price/step_label.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace nest::price {
namespace {

constexpr unsigned kSeed = 20261117;

StageEnd draw(std::mt19937& random) {
  std::uniform_real_distribution<double> real(0, 4);
  return {real(random), real(random), real(random), real(random),
          real(random), real(random), real(random), real(random)};
}

// docs/step.md: max_i (R_i - sum_{k<i} b_k), and max_i (update_i + max(0, G_i - sum_{k<i} f_k)).
TEST(StepLabel, IsTheSumThatTheManualHas) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  for (int round = 0; round < 1000; ++round) {
    std::vector<StageEnd> stages;
    for (std::size_t i = 0; i < 1 + random() % 6; ++i) stages.push_back(draw(random));
    double hidden = 0;
    double reduce = 0;
    double finish = 0;
    double slow_down = 0;
    double norm = 0;
    double before_f = 0;
    double before_b = 0;
    for (const StageEnd& s : stages) {
      hidden += s.hidden;
      reduce = std::max(reduce, s.reduce - before_b);
      finish = std::max(finish, s.optimizer + std::max(0.0, s.gather - before_f));
      slow_down = std::max(slow_down, s.slow_down);
      norm = std::max(norm, s.norm);
      before_f += s.hides_gathers;
      before_b += s.hides_reduces;
    }
    StepLabel label;
    for (std::size_t i = stages.size(); i-- > 0;) label = label.with(stages[i]);
    ASSERT_NEAR(label.total(), hidden + reduce + finish + slow_down + norm, 1e-12);
  }
}

// What a search over labels relies on.
TEST(StepLabel, ALabelThatCoversAnotherStaysBelowIt) {
  std::mt19937 random(kSeed + 1);
  for (int round = 0; round < 1000; ++round) {
    const StepLabel a = StepLabel{}.with(draw(random)).with(draw(random));
    const StepLabel b = StepLabel{}.with(draw(random)).with(draw(random));
    StepLabel both = a;
    both.melt(b);
    ASSERT_TRUE(both.covers(a) && both.covers(b));
    const StageEnd front = draw(random);
    ASSERT_TRUE(both.with(front).covers(a.with(front)));
    ASSERT_LE(both.with(front).total(), a.with(front).total());
  }
}

TEST(StepLabel, AStageSharesTheLinksWithThoseBeforeIt) {
  EXPECT_EQ(shared_reduce(1, 8, 0, 4), 2);
  EXPECT_EQ(shared_reduce(1, 8, 3, 4), 8);
  EXPECT_EQ(shared_reduce(3, 8, 0, 4), 3);
}

}  // namespace
}  // namespace nest::price
