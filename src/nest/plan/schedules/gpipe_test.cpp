#include <gtest/gtest.h>

#include "nest/plan/schedules/test_orders.hpp"

namespace nest::plan {
namespace {

TEST(GPipe, RunsAllForwardPassesFirst) {
  const ScheduleShape shape{.stages = 2, .micro_batches = 3};
  EXPECT_EQ(spell_order(Schedule::gpipe, shape, 1), "F0 F1 F2 B0 B1 B2");
  EXPECT_EQ(in_flight(Schedule::gpipe, shape, 1), 3);
}

}  // namespace
}  // namespace nest::plan
