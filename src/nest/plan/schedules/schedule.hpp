// Pipeline schedules as everybody asks for them: the order of tasks on each device, how many micro-batches
// are between their forward and backward pass at once, and which stage has which part of the model. The
// schedules themselves are in schedules/, one file each.
//
//   task_order(Schedule::one_f_one_b, {.stages = 4, .micro_batches = 8, .chunks = 1}, 2)   the third stage
//   -> F0 F1 B0 F2 B1 F3 B2 ... F7 B6 B7
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/plan/schedules/pipeline_schedule.hpp"
#include "nest/recipe/recipe.hpp"
#include "nest/strategies/strategy.hpp"

namespace nest::plan {

// The tasks of the device that holds stage `stage` (0 = first), in order. The shape is one that the schedule
// runs with.
[[nodiscard]] std::vector<Task> task_order(Schedule schedule, const ScheduleShape& shape, std::int64_t stage);

// The most stashes of chunks (of whole stages where chunks is 1) that a stage holds at once.
[[nodiscard]] std::int64_t in_flight(Schedule schedule, const ScheduleShape& shape, std::int64_t stage);

// The same in bytes where chunks differ: `stashes` has one entry for each chunk.
[[nodiscard]] Bytes peak_stash(Schedule schedule, const ScheduleShape& shape, std::int64_t stage,
                               std::span<const Bytes> stashes);

// Passes of the first chunk's length that lie between its own last one and the last chunk's.
[[nodiscard]] std::int64_t passes_between_chunks(Schedule schedule, const ScheduleShape& shape);

// The share of a chunk's forward passes that run beside a backward pass.
[[nodiscard]] double paired_share(Schedule schedule, const ScheduleShape& shape, std::int64_t stage,
                                  std::int64_t chunk);

// Whether exchanges with experts run beside another micro-batch where neither a plan nor a search says it: where the
// recipe's framework has it, and in schedules that pair passes for that.
[[nodiscard]] bool usual_expert_overlap(Schedule schedule, const Recipe& recipe);
// Whether they hide in pairs: then two passes of a stage are under way at once. Pairs that hide nothing are one pass
// after the other.
[[nodiscard]] bool hides_in_pairs(Schedule schedule, const Strategy& strategy);

// Whether the schedule runs with so many stages, micro-batches and chunks, and why not.
[[nodiscard]] bool runs_with(Schedule schedule, const ScheduleShape& shape);
[[nodiscard]] std::string schedule_refusal(Schedule schedule, const ScheduleShape& shape);

// A micro-batch goes through parts 0, 1, .. of the model: which one a stage's chunk is, and the reverse.
struct ChunkPlace {
  std::size_t stage = 0;
  std::size_t chunk = 0;
};
[[nodiscard]] std::int64_t part_of(ChunkPath path, std::int64_t stages, std::int64_t stage,
                                   std::int64_t chunk);
[[nodiscard]] std::size_t part_of(Schedule schedule, std::size_t stages, ChunkPlace place);
[[nodiscard]] ChunkPlace place_of_part(Schedule schedule, std::size_t stages, std::size_t part);

// Whom the chunk's input comes from: activations, or gradients where `backward`.
enum class ChunkSource : std::uint8_t {
  nobody,    // it is at the end of the pipeline, or the same device made it
  previous,  // stage
  next,
  wrap,  // from the last stage to the first, or back
};
[[nodiscard]] ChunkSource source_of(Schedule schedule, std::size_t stages, std::size_t chunks,
                                    ChunkPlace place, bool backward);
// Boundaries between parts that are on different devices.
[[nodiscard]] std::int64_t sending_boundaries(Schedule schedule, const ScheduleShape& shape);

}  // namespace nest::plan
