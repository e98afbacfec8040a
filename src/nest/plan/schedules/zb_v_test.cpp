#include <gtest/gtest.h>

#include "nest/plan/schedules/test_orders.hpp"
#include "nest/price/pipeline_time.hpp"

namespace nest::plan {
using namespace price;
namespace {

// What PyTorch's ScheduleZBVZeroBubble makes of two ranks and four micro-batches.
TEST(ZbV, IsPyTorchs) {
  const ScheduleShape shape{.stages = 2, .micro_batches = 4, .chunks = 2};
  EXPECT_EQ(spell_order(Schedule::zb_v, shape, 0),
            "Fa0 Fa1 Fa2 Fb0 Bb0 Wb0 Fb1 Bb1 Wb1 Fa3 Ba0 Wa0 Fb2 Bb2 Wb2 Ba1 Wa1 Fb3 Bb3 Wb3 Ba2 Wa2 Ba3 "
            "Wa3");
  EXPECT_EQ(spell_order(Schedule::zb_v, shape, 1),
            "Fa0 Fb0 Fa1 Fb1 Bb0 Wb0 Fa2 Ba0 Wa0 Fb2 Bb1 Wb1 Fa3 Ba1 Wa1 Fb3 Bb2 Wb2 Ba2 Bb3 Ba3 Wa2 Wb3 "
            "Wa3");
}

// Fewer micro-batches than 2 p - 1: the order of 2 p - 1 without those that there are not.
TEST(ZbV, LeavesOutMicroBatchesThatThereAreNot) {
  EXPECT_EQ(spell_order(Schedule::zb_v, {3, 1, 2}, 1), "Fa0 Fb0 Bb0 Wb0 Ba0 Wa0");
}

// Chunks of a stage lie where a micro-batch passes on its way down and on its way back.
TEST(ZbV, GoesDownAndBackUp) {
  constexpr std::size_t kStages = 3;
  const std::vector<std::size_t> stages{0, 1, 2, 2, 1, 0};
  for (std::size_t part = 0; part < stages.size(); ++part) {
    const ChunkPlace place = place_of_part(Schedule::zb_v, kStages, part);
    EXPECT_EQ(place.stage, stages[part]);
    EXPECT_EQ(place.chunk, part / kStages);
    EXPECT_EQ(part_of(Schedule::zb_v, kStages, place), part);
  }
  const auto source = [](std::size_t stage, std::size_t chunk, bool backward) {
    return source_of(Schedule::zb_v, kStages, 2, {stage, chunk}, backward);
  };
  EXPECT_EQ(source(0, 0, false), ChunkSource::nobody);
  EXPECT_EQ(source(1, 0, false), ChunkSource::previous);
  EXPECT_EQ(source(2, 1, false), ChunkSource::nobody);  // its own first chunk
  EXPECT_EQ(source(1, 1, false), ChunkSource::next);
  EXPECT_EQ(source(0, 1, true), ChunkSource::nobody);
  EXPECT_EQ(source(1, 1, true), ChunkSource::previous);
  EXPECT_EQ(source(2, 0, true), ChunkSource::nobody);
  EXPECT_EQ(source(0, 0, true), ChunkSource::next);
  EXPECT_EQ(sending_boundaries(Schedule::zb_v, {3, 4, 2}), 4);
}

// 2 p stashes of half a stage: what the first stage of 1F1B holds.
TEST(ZbV, EveryStageHoldsWhatTheFirstOf1F1BHolds) {
  for (const std::int64_t p : {2, 3, 8}) {
    for (const std::int64_t m : {2 * p - 1, 2 * p, 5 * p}) {
      for (std::int64_t stage = 0; stage < p; ++stage) {
        EXPECT_EQ(in_flight(Schedule::zb_v, {p, m, 2}, stage),
                  2 * in_flight(Schedule::one_f_one_b, {p, m, 1}, 0))
            << p << " stages, " << m << " micro-batches, stage " << stage;
      }
    }
  }
}

// The paper's claim: with forward, input and weight gradients alike no stage waits but for the first
// micro-batch to come and the last one to go.
TEST(ZbV, HasNoBubbleWherePassesAreAlike) {
  for (const std::int64_t p : {2, 4, 8}) {
    const std::int64_t m = 4 * p;
    const std::vector<StagePass> chunks(static_cast<std::size_t>(2 * p), {1, 2, 1});
    const double time = chunk_time(Schedule::zb_v, chunks, p, m).value;
    EXPECT_NEAR(time, static_cast<double>(6 * m + p - 1), 1e-9) << p << " stages";
  }
}

TEST(ZbV, RunsWithTwoChunksAndTwoStagesOrMore) {
  EXPECT_TRUE(runs_with(Schedule::zb_v, {2, 1, 2}));
  EXPECT_TRUE(runs_with(Schedule::zb_v, {4, 6, 2}));
  EXPECT_FALSE(runs_with(Schedule::zb_v, {4, 8, 4}));
  EXPECT_EQ(schedule_refusal(Schedule::zb_v, {4, 8, 1}), "schedule zb-v does not go with interleave 1");
  EXPECT_EQ(schedule_refusal(Schedule::zb_v, {1, 8, 2}),
            "schedule zb-v needs a pipeline of 2 stages or more");
}

}  // namespace
}  // namespace nest::plan
