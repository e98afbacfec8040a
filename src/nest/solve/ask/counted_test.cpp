#include "nest/solve/ask/counted.hpp"

#include <gtest/gtest.h>

#include "nest/plan/test_example.hpp"

namespace nest::solve {
namespace {

// The example's cluster has two nodes of two devices: a plan on three of them rents all four.
Plan on_three(double step) {
  Plan plan;
  plan.parallelism.data = 3;
  plan.stages.resize(1);
  plan.stages[0].devices = {{DeviceId{0}}, {DeviceId{1}}, {DeviceId{2}}};
  plan.predicted.emplace().step = Seconds{step};
  return plan;
}

TEST(Counted, WhatEachObjectiveIsAbout) {
  const Cluster cluster = test::example_inputs().cluster;
  EXPECT_DOUBLE_EQ(counted(Objective::step_time, on_three(2), cluster), 2);
  EXPECT_DOUBLE_EQ(counted(Objective::devices, on_three(2), cluster), 3);
  EXPECT_DOUBLE_EQ(counted(Objective::cost, on_three(2), cluster), 8);
}

TEST(Counted, MoreAsAShare) {
  const Cluster cluster = test::example_inputs().cluster;
  Plan one = on_three(5);
  one.stages[0].devices = {{DeviceId{0}}};  // one node: two devices for 5 s
  EXPECT_DOUBLE_EQ(counted_more(Objective::cost, one, on_three(2), cluster), 0.25);
  EXPECT_DOUBLE_EQ(counted_more(Objective::step_time, on_three(2), one, cluster), -0.6);
}

}  // namespace
}  // namespace nest::solve
