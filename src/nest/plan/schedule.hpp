// Pipeline schedules, in one place: the order of tasks on each device, and how many micro-batches are between
// their forward and backward pass at once. price and solve use the counts, simulate the orders.
//
//   task_order(Schedule::one_f_one_b, {.stages = 4, .micro_batches = 8, .chunks = 1}, 2)   the third stage
//   -> F0 F1 B0 F2 B1 F3 B2 ... F7 B6 B7
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nest/plan/plan.hpp"

namespace nest::plan {

enum class TaskKind : std::uint8_t {
  forward,
  backward,        // input gradients, and weight gradients where the schedule does not split them
  backward_weight  // ZB-H1 only
};

struct Task {
  TaskKind kind = TaskKind::forward;
  std::int32_t chunk = 0;
  std::int32_t micro_batch = 0;

  bool operator==(const Task&) const = default;
};

struct ScheduleShape {
  std::int64_t stages = 1;
  std::int64_t micro_batches = 1;
  std::int64_t chunks = 1;  // above 1 with Schedule::interleaved only
};

// The tasks of the device that holds stage `stage` (0 = first), in order. Interleaved schedules need
// micro_batches % stages == 0.
[[nodiscard]] std::vector<Task> task_order(Schedule schedule, const ScheduleShape& shape, std::int64_t stage);

// The most stashes of chunks (of whole stages where chunks is 1) that a stage holds at once.
[[nodiscard]] std::int64_t in_flight(Schedule schedule, const ScheduleShape& shape, std::int64_t stage);

// The same in bytes where chunks differ: `stashes` has one entry for each chunk.
[[nodiscard]] Bytes peak_stash(Schedule schedule, const ScheduleShape& shape, std::int64_t stage,
                               std::span<const Bytes> stashes);

}  // namespace nest::plan
