#include "nest/plan/schedule.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <tuple>

#include "nest/price/test_makespan.hpp"

namespace nest::plan {
using namespace price;
namespace {

std::string spell(const std::vector<Task>& order, bool chunks = false) {
  std::string out;
  for (const Task& task : order) {
    out += out.empty() ? "" : " ";
    out += task.kind == TaskKind::forward ? "F" : task.kind == TaskKind::backward ? "B" : "W";
    if (chunks) out += static_cast<char>('a' + task.chunk);
    out += std::to_string(task.micro_batch);
  }
  return out;
}

TEST(Schedule, OneForwardOneBackward) {
  const ScheduleShape shape{.stages = 4, .micro_batches = 5};
  EXPECT_EQ(spell(task_order(Schedule::one_f_one_b, shape, 0)), "F0 F1 F2 F3 B0 F4 B1 B2 B3 B4");
  EXPECT_EQ(spell(task_order(Schedule::one_f_one_b, shape, 2)), "F0 F1 B0 F2 B1 F3 B2 F4 B3 B4");
  EXPECT_EQ(spell(task_order(Schedule::one_f_one_b, shape, 3)), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4");
}

TEST(Schedule, GPipeRunsAllForwardPassesFirst) {
  EXPECT_EQ(spell(task_order(Schedule::gpipe, {.stages = 2, .micro_batches = 3}, 1)), "F0 F1 F2 B0 B1 B2");
}

// Megatron-LM, pipeline 2, two chunks, four micro-batches: stage 0 warms up with (2-0-1)*2 + (2-1)*2 passes.
TEST(Schedule, InterleavedIsMegatrons) {
  const ScheduleShape shape{.stages = 2, .micro_batches = 4, .chunks = 2};
  EXPECT_EQ(spell(task_order(Schedule::interleaved, shape, 0), true),
            "Fa0 Fa1 Fb0 Fb1 Fa2 Bb0 Fa3 Bb1 Fb2 Ba0 Fb3 Ba1 Bb2 Bb3 Ba2 Ba3");
  EXPECT_EQ(spell(task_order(Schedule::interleaved, shape, 1), true),
            "Fa0 Fa1 Fb0 Bb0 Fb1 Bb1 Fa2 Ba0 Fa3 Ba1 Fb2 Bb2 Fb3 Bb3 Ba2 Ba3");
}

TEST(Schedule, ZeroBubbleDelaysWeightGradientsByTheStage) {
  const ScheduleShape shape{.stages = 3, .micro_batches = 4};
  EXPECT_EQ(spell(task_order(Schedule::zb_h1, shape, 0)), "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3");
  EXPECT_EQ(spell(task_order(Schedule::zb_h1, shape, 2)), "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3");
}

struct Peak {
  std::int64_t stashes = 0;
  Bytes bytes;
};

// A stash lives from its forward pass to the end of its weight gradients.
Peak walk(Schedule schedule, const ScheduleShape& shape, std::int64_t stage, std::span<const Bytes> stashes) {
  Peak held;
  Peak most;
  for (const Task& task : task_order(schedule, shape, stage)) {
    const Bytes bytes = stashes[static_cast<std::size_t>(task.chunk)];
    if (task.kind == TaskKind::forward) {
      ++held.stashes;
      held.bytes += bytes;
    } else if ((task.kind == TaskKind::backward_weight) == (schedule == Schedule::zb_h1)) {
      --held.stashes;
      held.bytes -= bytes;
    }
    most.stashes = std::max(most.stashes, held.stashes);
    most.bytes = std::max(most.bytes, held.bytes);
  }
  EXPECT_EQ(held.stashes, 0);
  return most;
}

constexpr unsigned kSeed = 20260801;

struct Drawn {
  Schedule schedule;
  ScheduleShape shape;
};

Drawn draw(std::mt19937& random) {
  const auto pick = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  const auto schedule = static_cast<Schedule>(pick(0, 3));
  ScheduleShape shape{.stages = pick(1, 9), .micro_batches = pick(1, 24)};
  if (schedule == Schedule::interleaved) {
    shape.chunks = pick(1, 5);
    if (shape.chunks > 1) shape.micro_batches = shape.stages * pick(1, 6);
  }
  return {schedule, shape};
}

TEST(Schedule, CountsAgreeWithWalkingTheOrder) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  for (int round = 0; round < 2000; ++round) {
    const auto [schedule, shape] = draw(random);
    std::vector<Bytes> stashes;
    stashes.reserve(static_cast<std::size_t>(shape.chunks));
    for (std::int64_t c = 0; c < shape.chunks; ++c) stashes.emplace_back(1 + random() % 1000);
    for (std::int64_t stage = 0; stage < shape.stages; ++stage) {
      const Peak peak = walk(schedule, shape, stage, stashes);
      ASSERT_EQ(in_flight(schedule, shape, stage), peak.stashes)
          << static_cast<int>(schedule) << " p " << shape.stages << " m " << shape.micro_batches << " v "
          << shape.chunks << " stage " << stage;
      ASSERT_EQ(peak_stash(schedule, shape, stage, stashes), peak.bytes)
          << static_cast<int>(schedule) << " p " << shape.stages << " m " << shape.micro_batches << " v "
          << shape.chunks << " stage " << stage;
    }
  }
}

TEST(Schedule, EveryTaskRunsOnceAndNoneWaitsForEver) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed + 1);
  for (int round = 0; round < 500; ++round) {
    const auto [schedule, shape] = draw(random);
    for (std::int64_t stage = 0; stage < shape.stages; ++stage) {
      std::map<std::tuple<TaskKind, int, int>, int> times;
      for (const Task& t : task_order(schedule, shape, stage)) ++times[{t.kind, t.chunk, t.micro_batch}];
      const std::int64_t kinds = schedule == Schedule::zb_h1 ? 3 : 2;
      ASSERT_EQ(static_cast<std::int64_t>(times.size()), kinds * shape.chunks * shape.micro_batches);
      for (const auto& [task, count] : times) ASSERT_EQ(count, 1);
    }
    const std::vector<StagePass> passes(static_cast<std::size_t>(shape.stages * shape.chunks), {1, 2, 1});
    ASSERT_TRUE(makespan(schedule, shape, passes).has_value());
  }
}

// The first stage has as many stashes as under 1F1B; later ones keep more, since weight gradients wait.
TEST(Schedule, ZeroBubbleHoldsNoMoreThanTheFirstStageOf1F1B) {
  for (std::int64_t m : {1, 3, 8, 20}) {
    const ScheduleShape shape{.stages = 8, .micro_batches = m};
    const std::int64_t first = in_flight(Schedule::one_f_one_b, shape, 0);
    for (std::int64_t stage = 0; stage < 8; ++stage) {
      EXPECT_EQ(in_flight(Schedule::zb_h1, shape, stage), first);
    }
  }
}

}  // namespace
}  // namespace nest::plan
