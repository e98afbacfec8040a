// A schedule's time and memory from its task order alone: the longest path over the tasks, where a task
// begins when the one before it on its device is done and what it needs has come; tasks that run beside each
// other begin when both may, and end together. Exact for any times, and
// monotone, since the order is fixed; it takes time in proportion to stages, chunks and micro-batches. A
// schedule without a closed formula uses these.
#pragma once

#include <cstdint>
#include <span>

#include "nest/plan/schedules/pipeline_schedule.hpp"

namespace nest::plan {

// Chunk c of stage i is chunks[i * v + c].
[[nodiscard]] double order_time(const PipelineSchedule& schedule, std::span<const StagePass> chunks,
                                const ScheduleShape& shape);

// The most that a stage holds of stashes, which live from a forward pass to the end of the chunk's gradients.
[[nodiscard]] Bytes order_peak(const PipelineSchedule& schedule, const ScheduleShape& shape,
                               std::int64_t stage, std::span<const Bytes> stashes);

}  // namespace nest::plan
