#include <gtest/gtest.h>

#include "nest/plan/schedules/test_orders.hpp"

namespace nest::plan {
namespace {

// Megatron-LM, pipeline 2, two chunks, four micro-batches: stage 0 warms up with (2-0-1)*2 + (2-1)*2 passes.
TEST(Interleaved, IsMegatrons) {
  const ScheduleShape shape{.stages = 2, .micro_batches = 4, .chunks = 2};
  EXPECT_EQ(spell_order(Schedule::interleaved, shape, 0),
            "Fa0 Fa1 Fb0 Fb1 Fa2 Bb0 Fa3 Bb1 Fb2 Ba0 Fb3 Ba1 Bb2 Bb3 Ba2 Ba3");
  EXPECT_EQ(spell_order(Schedule::interleaved, shape, 1),
            "Fa0 Fa1 Fb0 Bb0 Fb1 Bb1 Fa2 Ba0 Fa3 Ba1 Fb2 Bb2 Fb3 Bb3 Ba2 Ba3");
}

TEST(Interleaved, NeedsMicroBatchesInRounds) {
  EXPECT_TRUE(runs_with(Schedule::interleaved, {4, 8, 2}));
  EXPECT_FALSE(runs_with(Schedule::interleaved, {4, 6, 2}));
  EXPECT_FALSE(runs_with(Schedule::interleaved, {4, 8, 1}));
  EXPECT_EQ(schedule_refusal(Schedule::interleaved, {4, 6, 2}),
            "an interleaved schedule needs micro-batches (6) in multiples of the pipeline (4)");
  EXPECT_EQ(schedule_refusal(Schedule::interleaved, {1, 6, 2}),
            "interleaving needs a pipeline of 2 stages or more");
}

}  // namespace
}  // namespace nest::plan
