#include "nest/plan/schedules/schedule.hpp"

#include <fmt/format.h>

#include <cassert>

namespace nest::plan {

std::vector<Task> task_order(Schedule schedule, const ScheduleShape& shape, std::int64_t stage) {
  assert(stage >= 0 && stage < shape.stages && shape.micro_batches >= 1 && shape.chunks >= 1);
  return schedule_of(schedule).order(shape, stage);
}

std::int64_t in_flight(Schedule schedule, const ScheduleShape& shape, std::int64_t stage) {
  return schedule_of(schedule).in_flight(shape, stage);
}

Bytes peak_stash(Schedule schedule, const ScheduleShape& shape, std::int64_t stage,
                 std::span<const Bytes> stashes) {
  assert(static_cast<std::int64_t>(stashes.size()) == shape.chunks);
  const PipelineSchedule& own = schedule_of(schedule);
  if (shape.chunks == 1) return stashes.front() * own.in_flight(shape, stage);
  return own.peak_stash(shape, stage, stashes);
}

std::int64_t passes_between_chunks(Schedule schedule, const ScheduleShape& shape) {
  const PipelineSchedule& own = schedule_of(schedule);
  return own.passes_between_chunks == nullptr ? 0 : own.passes_between_chunks(shape);
}

double paired_share(Schedule schedule, const ScheduleShape& shape, std::int64_t stage, std::int64_t chunk) {
  const PipelineSchedule& own = schedule_of(schedule);
  if (own.paired == nullptr) return 0;
  return static_cast<double>(own.paired(shape, stage, chunk)) / static_cast<double>(shape.micro_batches);
}

bool usual_expert_overlap(Schedule schedule, const Recipe& recipe) {
  return recipe.expert_overlap || schedule_of(schedule).pairs_passes;
}

bool hides_in_pairs(Schedule schedule, const Strategy& strategy) {
  return schedule_of(schedule).pairs_passes && strategy.overlaps_experts();
}

bool runs_with(Schedule schedule, const ScheduleShape& shape) {
  const PipelineSchedule& own = schedule_of(schedule);
  if (shape.chunks < own.least_chunks || shape.chunks > own.most_chunks) return false;
  return !own.chunked() ||
         (shape.stages >= 2 && (!own.in_rounds || shape.micro_batches % shape.stages == 0) &&
          shape.micro_batches >= own.least_rounds * shape.stages);
}

std::string schedule_refusal(Schedule schedule, const ScheduleShape& shape) {
  const PipelineSchedule& own = schedule_of(schedule);
  if (shape.chunks < own.least_chunks || shape.chunks > own.most_chunks)
    return fmt::format("schedule {} does not go with interleave {}", own.name, shape.chunks);
  if (runs_with(schedule, shape)) return "";
  if (shape.stages < 2) {
    return own.in_rounds ? "interleaving needs a pipeline of 2 stages or more"
                         : fmt::format("schedule {} needs a pipeline of 2 stages or more", own.name);
  }
  if (shape.micro_batches < own.least_rounds * shape.stages) {
    return fmt::format(
        "schedule {} needs {} micro-batches for each stage: {} or more with a pipeline of {}, not {}",
        own.name, own.least_rounds, own.least_rounds * shape.stages, shape.stages, shape.micro_batches);
  }
  return fmt::format("an interleaved schedule needs micro-batches ({}) in multiples of the pipeline ({})",
                     shape.micro_batches, shape.stages);
}

std::int64_t part_of(ChunkPath path, std::int64_t stages, std::int64_t stage, std::int64_t chunk) {
  const bool back = path == ChunkPath::turns && chunk % 2 == 1;
  return chunk * stages + (back ? stages - 1 - stage : stage);
}

std::size_t part_of(Schedule schedule, std::size_t stages, ChunkPlace place) {
  return static_cast<std::size_t>(part_of(schedule_of(schedule).path, static_cast<std::int64_t>(stages),
                                          static_cast<std::int64_t>(place.stage),
                                          static_cast<std::int64_t>(place.chunk)));
}

ChunkPlace place_of_part(Schedule schedule, std::size_t stages, std::size_t part) {
  const std::size_t chunk = part / stages;
  const std::size_t at = part % stages;
  const bool back = schedule_of(schedule).path == ChunkPath::turns && chunk % 2 == 1;
  return {back ? stages - 1 - at : at, chunk};
}

ChunkSource source_of(Schedule schedule, std::size_t stages, std::size_t chunks, ChunkPlace place,
                      bool backward) {
  const std::size_t part = part_of(schedule, stages, place);
  if (backward ? part + 1 == stages * chunks : part == 0) return ChunkSource::nobody;
  const std::size_t from = place_of_part(schedule, stages, backward ? part + 1 : part - 1).stage;
  if (from == place.stage) return ChunkSource::nobody;
  // Two stages that interleave are neighbours both ways.
  if (schedule_of(schedule).wraps() && place.stage == (backward ? stages - 1 : 0)) return ChunkSource::wrap;
  return from < place.stage ? ChunkSource::previous : ChunkSource::next;
}

std::int64_t sending_boundaries(Schedule schedule, const ScheduleShape& shape) {
  const bool turns = schedule_of(schedule).path == ChunkPath::turns;
  return shape.parts() - 1 - (turns ? shape.chunks - 1 : 0);
}

}  // namespace nest::plan
