#include "nest/solve/tree/best_plans.hpp"

#include <gtest/gtest.h>

namespace nest::solve {
namespace {

constexpr Seconds kInfinite = Seconds::most();

// Of so many devices, all in copies; `inner` makes variants.
Plan plan_of(std::int64_t data, std::int64_t inner = 1) {
  Plan plan;
  plan.parallelism.data = data;
  plan.parallelism.data_inner = inner;
  return plan;
}

// The longest step that is equal to one but for rounding.
Seconds tie_of(double step) {
  return Seconds{step} * (1 + kTie);
}

std::vector<double> steps_of(const BestPlans& best) {
  std::vector<double> steps;
  for (const BestPlans::Entry* entry : best.all()) steps.push_back(entry->step.value);
  return steps;
}

TEST(BestPlans, NothingAtFirst) {
  const BestPlans best(Objective::step_time, 1, kInfinite);
  EXPECT_EQ(best.best(), nullptr);
  EXPECT_TRUE(best.all().empty());
  EXPECT_EQ(best.threshold(8), kInfinite);
  EXPECT_TRUE(best.open(8, Seconds{1e30}));
}

TEST(BestPlans, KeepsTheBestVariantOfEachDegrees) {
  BestPlans best(Objective::step_time, 1, kInfinite);
  best.add(Seconds{3}, plan_of(2, 1));
  best.add(Seconds{2}, plan_of(2, 2));
  best.add(Seconds{4}, plan_of(2, 1));
  best.add(Seconds{5}, plan_of(4));
  EXPECT_EQ(steps_of(best), (std::vector<double>{2, 5}));
  EXPECT_EQ(best.best()->plan.parallelism.data_inner, 2);
  EXPECT_EQ(best.best()->devices, 2);
}

TEST(BestPlans, TheThresholdIsTheLastOfTheTop) {
  BestPlans best(Objective::step_time, 2, kInfinite);
  best.add(Seconds{3}, plan_of(1));
  EXPECT_EQ(best.threshold(1), kInfinite) << "one more is asked for";
  best.add(Seconds{5}, plan_of(2));
  EXPECT_EQ(best.threshold(1), tie_of(5));
  best.add(Seconds{7}, plan_of(4));
  EXPECT_EQ(best.threshold(1), tie_of(5));
  EXPECT_EQ(best.all().size(), 3U) << "others are kept too";
  best.add(Seconds{4}, plan_of(8));
  EXPECT_EQ(best.threshold(1), tie_of(4));
  EXPECT_TRUE(best.open(1, Seconds{4})) << "a tie may still win by its key";
  EXPECT_FALSE(best.open(1, Seconds{4.0000001}));
}

// A plan that gets better in place moves everything after it.
TEST(BestPlans, ABetterVariantMovesTheThreshold) {
  BestPlans best(Objective::step_time, 2, kInfinite);
  best.add(Seconds{3}, plan_of(1));
  best.add(Seconds{5}, plan_of(2, 1));
  best.add(Seconds{4}, plan_of(2, 2));
  EXPECT_EQ(best.threshold(1), tie_of(4));
  best.add(Seconds{1}, plan_of(2, 1));
  EXPECT_EQ(best.threshold(1), tie_of(3));
  EXPECT_EQ(best.best()->step, Seconds{1});
}

TEST(BestPlans, TiesGoByTheKeyWhateverTheOrder) {
  for (const bool turned : {false, true}) {
    BestPlans best(Objective::step_time, 1, kInfinite);
    best.add(Seconds{2}, plan_of(4, turned ? 4 : 2));
    best.add(Seconds{2}, plan_of(4, turned ? 2 : 4));
    best.add(Seconds{2}, plan_of(turned ? 3 : 2));
    best.add(Seconds{2}, plan_of(turned ? 2 : 3));
    EXPECT_EQ(best.best()->plan.parallelism.data, 2);
    EXPECT_EQ(best.all()[2]->plan.parallelism.data_inner, 2);
  }
}

// Rounding decides nothing: of steps that are equal but for it, fewer devices win, also among the runners-up.
TEST(BestPlans, FewerDevicesWinTies) {
  BestPlans best(Objective::step_time, 1, kInfinite);
  best.add(Seconds{2}, plan_of(8));
  best.add(Seconds{2 * (1 + 1e-12)}, plan_of(4));
  best.add(Seconds{2 * (1 + 1e-8)}, plan_of(1));
  best.add(Seconds{3}, plan_of(16));
  best.add(Seconds{3 * (1 + 1e-12)}, plan_of(2));
  std::vector<std::int64_t> devices;
  for (const BestPlans::Entry* entry : best.all()) devices.push_back(entry->devices);
  EXPECT_EQ(devices, (std::vector<std::int64_t>{4, 8, 1, 2, 16}));
  EXPECT_EQ(best.best()->devices, 4);
  EXPECT_TRUE(best.open(1, Seconds{2 * (1 + 1e-12)})) << "a tie with fewer devices may still win";
}

TEST(BestPlans, FewestDevicesComeFirst) {
  BestPlans best(Objective::devices, 1, Seconds{10});
  best.add(Seconds{9}, plan_of(4));
  best.add(Seconds{3}, plan_of(8));
  EXPECT_EQ(best.best()->devices, 4);
  best.add(Seconds{11}, plan_of(2));  // too slow
  EXPECT_EQ(best.best()->devices, 4);
  EXPECT_EQ(best.threshold(2), Seconds{10}) << "fewer devices count as long as they reach the target";
  EXPECT_EQ(best.threshold(4), Seconds{9}) << "so many only where they are faster";
  EXPECT_FALSE(best.open(8, Seconds{0})) << "more do not count";
  best.add(Seconds{10}, plan_of(2));
  EXPECT_EQ(best.best()->devices, 2);
  EXPECT_EQ(steps_of(best), (std::vector<double>{10, 9, 3}));
}

// What counts is the step times the weight: the devices that are rented.
TEST(BestPlans, TheCheapestComesFirst) {
  BestPlans best(Objective::cost, 1, kInfinite);
  best.add(Seconds{2}, plan_of(8), 8);
  best.add(Seconds{5}, plan_of(2), 2);
  EXPECT_EQ(best.best()->devices, 2);
  EXPECT_EQ(best.best()->value(), Seconds{10});
  EXPECT_EQ(best.threshold(8, 8), Seconds{10} * (1 + kTie) / 8) << "a plan of eight must be so fast";
  EXPECT_EQ(best.threshold(1, 2), tie_of(5)) << "one device of a node costs as much as two";
  EXPECT_TRUE(best.open(4, Seconds{2.5}, 4));
  EXPECT_FALSE(best.open(4, Seconds{2.6}, 4));
  best.add(Seconds{2.5}, plan_of(4), 4);
  EXPECT_EQ(best.best()->devices, 2) << "of equal costs the one with fewer devices";
}

TEST(BestPlans, TooSlowAPlanIsNone) {
  BestPlans best(Objective::devices, 1, Seconds{10});
  best.add(Seconds{10.5}, plan_of(1));
  EXPECT_EQ(best.best(), nullptr);
  EXPECT_TRUE(best.open(64, Seconds{10}));
  EXPECT_FALSE(best.open(1, Seconds{10.5}));
}

}  // namespace
}  // namespace nest::solve
