#include <gtest/gtest.h>

#include "nest/plan/schedules/test_orders.hpp"

namespace nest::plan {
namespace {

TEST(OneFOneB, WarmsUpWithOnePassForEachStageAfterIt) {
  const ScheduleShape shape{.stages = 4, .micro_batches = 5};
  EXPECT_EQ(spell_order(Schedule::one_f_one_b, shape, 0), "F0 F1 F2 F3 B0 F4 B1 B2 B3 B4");
  EXPECT_EQ(spell_order(Schedule::one_f_one_b, shape, 2), "F0 F1 B0 F2 B1 F3 B2 F4 B3 B4");
  EXPECT_EQ(spell_order(Schedule::one_f_one_b, shape, 3), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4");
}

TEST(OneFOneB, EveryFrameworkHasIt) {
  for (const char* framework : {"megatron", "torchtitan", "deepspeed"})
    EXPECT_FALSE(word_of(Schedule::one_f_one_b, framework).empty()) << framework;
}

}  // namespace
}  // namespace nest::plan
