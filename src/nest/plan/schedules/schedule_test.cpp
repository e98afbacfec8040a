#include "nest/plan/schedules/schedule.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <tuple>

#include "nest/price/test_makespan.hpp"

namespace nest::plan {
using namespace price;
namespace {

bool splits(Schedule schedule) {
  return schedule == Schedule::zb_h1 || schedule == Schedule::zb_v || schedule == Schedule::dualpipe_v;
}

bool is_last(Schedule schedule, const Task& task) {
  if (task.kind == TaskKind::backward) return !splits(schedule) || task.whole;
  return task.kind == TaskKind::backward_weight;
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
    } else if (is_last(schedule, task)) {
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
  const auto schedule = static_cast<Schedule>(pick(0, 5));
  ScheduleShape shape{.stages = pick(1, 9), .micro_batches = pick(1, 24)};
  if (schedule == Schedule::interleaved) {
    shape.chunks = pick(1, 5);
    if (shape.chunks > 1) shape.micro_batches = shape.stages * pick(1, 6);
  }
  if (schedule == Schedule::zb_v || schedule == Schedule::dualpipe_v) shape.chunks = 2;
  if (schedule == Schedule::dualpipe_v) {
    shape.stages = std::max<std::int64_t>(2, shape.stages);
    shape.micro_batches += 2 * shape.stages;
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
      for (const Task& t : task_order(schedule, shape, stage)) {
        ++times[{t.kind, t.chunk, t.micro_batch}];
        if (t.whole) ++times[{TaskKind::backward_weight, t.chunk, t.micro_batch}];
      }
      const std::int64_t kinds = splits(schedule) ? 3 : 2;
      ASSERT_EQ(static_cast<std::int64_t>(times.size()), kinds * shape.chunks * shape.micro_batches);
      for (const auto& [task, count] : times) ASSERT_EQ(count, 1);
    }
    const std::vector<StagePass> passes(static_cast<std::size_t>(shape.stages * shape.chunks), {1, 2, 1});
    ASSERT_TRUE(makespan(schedule, shape, passes).has_value());
  }
}

}  // namespace
}  // namespace nest::plan
