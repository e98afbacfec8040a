#include <gtest/gtest.h>

#include "nest/plan/schedules/test_orders.hpp"
#include "nest/price/pipeline_time.hpp"

namespace nest::plan {
using namespace price;
namespace {

// What PyTorch's ScheduleDualPipeV makes of three ranks and six micro-batches; tests/frameworks/schedules.py compares
// more.
TEST(DualPipeV, IsPyTorchs) {
  const ScheduleShape shape{.stages = 3, .micro_batches = 6, .chunks = 2};
  EXPECT_EQ(
      spell_order(Schedule::dualpipe_v, shape, 0),
      "Fa0 Fa1 Fa2 Fa3 Fa4 Fb0 Ib0 Wb0 Fb1 Ib1 Wb1 Fb2 Fa5+Bb2 Fb3+Ba0 Bb3 Fb4+Ba1 Bb4 Fb5+Ba2 Bb5 Ia3 Wa3 "
      "Ia4 Wa4 Ia5 Wa5");
  EXPECT_EQ(
      spell_order(Schedule::dualpipe_v, shape, 1),
      "Fa0 Fa1 Fa2 Fb0 Fa3 Fb1 Ib0 Wb0 Fb2 Fa4+Bb1 Fb3+Ba0 Fa5+Bb2 Fb4+Ba1 Bb3 Fb5+Ba2 Bb4 Ba3 Ib5 Ia4 Wb5 "
      "Ia5 Wa4 Wa5");
  EXPECT_EQ(
      spell_order(Schedule::dualpipe_v, shape, 2),
      "Fa0 Fb0 Fa1 Fb1 Fa2 Fb2 Fa3 Bb0 Fb3+Ba0 Fa4+Bb1 Fb4+Ba1 Fa5+Bb2 Fb5+Ba2 Bb3 Ba3 Bb4 Ia4 Ib5 Ia5 Wa4 "
      "Wb5 Wa5");
}

// 2 p stashes of half a stage, and one more while a forward pass runs beside a backward pass.
TEST(DualPipeV, EveryStageHoldsOneStashMoreThanTheFirstOf1F1B) {
  for (const std::int64_t p : {2, 3, 8}) {
    for (const std::int64_t m : {2 * p, 2 * p + 1, 5 * p}) {
      for (std::int64_t stage = 0; stage < p; ++stage) {
        EXPECT_EQ(in_flight(Schedule::dualpipe_v, {p, m, 2}, stage),
                  2 * in_flight(Schedule::one_f_one_b, {p, m, 1}, 0) + 1)
            << p << " stages, " << m << " micro-batches, stage " << stage;
      }
    }
  }
}

TEST(DualPipeV, CountsItsPairs) {
  for (const std::int64_t p : {2, 3, 8}) {
    for (const std::int64_t m : {2 * p, 2 * p + 1, 5 * p}) {
      for (std::int64_t stage = 0; stage < p; ++stage) {
        std::array<std::int64_t, 2> pairs{};
        for (const Task& task : task_order(Schedule::dualpipe_v, {p, m, 2}, stage))
          pairs[static_cast<std::size_t>(task.chunk)] += task.with_next ? 1 : 0;
        for (const std::int64_t chunk : {0, 1}) {
          EXPECT_NEAR(paired_share(Schedule::dualpipe_v, {p, m, 2}, stage, chunk) * static_cast<double>(m),
                      static_cast<double>(pairs[static_cast<std::size_t>(chunk)]), 1e-9)
              << p << " stages, " << m << " micro-batches, stage " << stage << ", chunk " << chunk;
        }
      }
    }
  }
  EXPECT_EQ(paired_share(Schedule::zb_v, {4, 8, 2}, 0, 0), 0);
}

// DeepSeek's table for DualPipeV: a bubble of (p - 1) (pair + B - 3 W), with chunks of half a stage and pairs that
// hide nothing: F = 1, B = 2 (whole), W = 1, pair 3 gives (p - 1) (3 + 2 - 3) beside m (F + B) of two chunks.
TEST(DualPipeV, HasTheBubbleOfItsPaper) {
  for (const std::int64_t p : {2, 4, 8}) {
    const std::int64_t m = 4 * p;
    const std::vector<StagePass> chunks(static_cast<std::size_t>(2 * p), {1, 2, 1, 3});
    const double time = chunk_time(Schedule::dualpipe_v, chunks, p, m).value;
    EXPECT_NEAR(time, static_cast<double>(6 * m + 2 * (p - 1)), 1e-9) << p << " stages";
  }
}

TEST(DualPipeV, RunsWithTwoChunksAndTwoMicroBatchesForEachStage) {
  EXPECT_TRUE(runs_with(Schedule::dualpipe_v, {4, 8, 2}));
  EXPECT_TRUE(runs_with(Schedule::dualpipe_v, {4, 9, 2}));
  EXPECT_FALSE(runs_with(Schedule::dualpipe_v, {4, 7, 2}));
  EXPECT_EQ(schedule_refusal(Schedule::dualpipe_v, {4, 8, 1}),
            "schedule dualpipe-v does not go with interleave 1");
  EXPECT_EQ(schedule_refusal(Schedule::dualpipe_v, {1, 8, 2}),
            "schedule dualpipe-v needs a pipeline of 2 stages or more");
  EXPECT_EQ(
      schedule_refusal(Schedule::dualpipe_v, {4, 7, 2}),
      "schedule dualpipe-v needs 2 micro-batches for each stage: 8 or more with a pipeline of 4, not 7");
}

// Where a recipe's framework hides exchanges in no schedule, this one still does.
TEST(DualPipeV, HidesExchangesWithExpertsUnlessAPlanSaysOtherwise) {
  Recipe recipe;
  recipe.expert_overlap = false;
  EXPECT_TRUE(usual_expert_overlap(Schedule::dualpipe_v, recipe));
  EXPECT_FALSE(usual_expert_overlap(Schedule::zb_v, recipe));
  recipe.expert_overlap = true;
  EXPECT_TRUE(usual_expert_overlap(Schedule::zb_v, recipe));
}

}  // namespace
}  // namespace nest::plan
