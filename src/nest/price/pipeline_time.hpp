// The time of a pipeline from its stages' times, in closed form (DESIGN.md section 5). None is above the
// event-by-event time of the schedule's task order, and all equal it where stages are alike.
//
//   pipeline_time(Schedule::one_f_one_b, PipelineModel::one_f_one_b, {{.f = 3, .b = 6.501}, {1.501, 2}}, 4,
//   1)
//   -> 38.505
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "nest/plan/plan.hpp"

namespace nest::price {

// One stage, first stage first in the lists below. f and b include receives; b includes weight gradients.
struct StagePass {
  double f = 0;
  double b = 0;
  double weight = 0;  // of b: weight gradients, which ZB-H1 puts off
};

// From the start of the first forward pass to the end of the last backward pass. PipelineModel::one_f_one_b
// is the schedule's own formula; the other two models look at no schedule.
[[nodiscard]] Seconds pipeline_time(Schedule schedule, PipelineModel model, std::span<const StagePass> stages,
                                    std::int64_t micro_batches, std::int64_t chunks);

// Interleaved where chunks differ: chunk c of stage i is chunks[i * v + c] with v = chunks.size() / stages.
[[nodiscard]] Seconds interleaved_time(std::span<const StagePass> chunks, std::int64_t stages,
                                       std::int64_t micro_batches);

// The recurrence of 1F1B, stage by stage from the last to the first: S and V of the stages so far.
struct PipelineTail {
  double sum = 0;   // S
  double span = 0;  // V
};

// `s` is the stage's number from the end, 1 for the last. Monotone in both labels.
[[nodiscard]] inline PipelineTail with_stage(const PipelineTail& after, const StagePass& pass, std::int64_t s,
                                             std::int64_t micro_batches) {
  const double u = pass.f + pass.b;
  const auto m = static_cast<double>(micro_batches);
  const auto later = static_cast<double>(s - 1);
  const double own = micro_batches > s ? m * u + std::max(0.0, after.sum - later * pass.f) +
                                             std::max(0.0, after.sum - later * pass.b)
                                       : std::max(m * u, after.sum + u + (m - 1) * std::max(pass.f, pass.b));
  return {u + after.sum, std::max(own, u + after.span)};
}

}  // namespace nest::price
