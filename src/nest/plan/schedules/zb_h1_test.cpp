#include <gtest/gtest.h>

#include "nest/plan/schedules/test_orders.hpp"

namespace nest::plan {
namespace {

TEST(ZbH1, DelaysWeightGradientsByTheStage) {
  const ScheduleShape shape{.stages = 3, .micro_batches = 4};
  EXPECT_EQ(spell_order(Schedule::zb_h1, shape, 0), "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3");
  EXPECT_EQ(spell_order(Schedule::zb_h1, shape, 2), "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3");
}

// The first stage has as many stashes as under 1F1B; later ones keep more, since weight gradients wait.
TEST(ZbH1, HoldsNoMoreThanTheFirstStageOf1F1B) {
  for (std::int64_t m : {1, 3, 8, 20}) {
    const ScheduleShape shape{.stages = 8, .micro_batches = m};
    const std::int64_t first = in_flight(Schedule::one_f_one_b, shape, 0);
    for (std::int64_t stage = 0; stage < 8; ++stage)
      EXPECT_EQ(in_flight(Schedule::zb_h1, shape, stage), first);
  }
}

}  // namespace
}  // namespace nest::plan
