// The time of a pipeline from its stages' times (docs/design.md, section 5). Each schedule's own formula is in
// schedules/. None is above the event-by-event time of the schedule's task order, and all equal it where
// stages are alike. A schedule without chunks has a label that grows stage by stage, from the last stage to
// the first: the price adds up all stages, and the search keeps the labels of all partial pipelines.
//
//   pipeline_time(Schedule::one_f_one_b, PipelineModel::one_f_one_b, {{.f = 3, .b = 6.501}, {1.501, 2}}, 4,
//                 1)
//   -> 38.505
#pragma once

#include <cstdint>
#include <span>

#include "nest/plan/plan.hpp"
#include "nest/plan/schedules/pipeline_schedule.hpp"

namespace nest::price {

// From the start of the first forward pass to the end of the last backward pass. PipelineModel::one_f_one_b
// is the schedule's own formula; the other two models look at no schedule.
[[nodiscard]] Seconds pipeline_time(Schedule schedule, PipelineModel model, std::span<const StagePass> stages,
                                    std::int64_t micro_batches, std::int64_t chunks);

// The schedule's own formula where chunks differ: chunk c of stage i is chunks[i * v + c] with
// v = chunks.size() / stages.
[[nodiscard]] Seconds chunk_time(Schedule schedule, std::span<const StagePass> chunks, std::int64_t stages,
                                 std::int64_t micro_batches);

// Of schedules without chunks, and of the models that look at none.
[[nodiscard]] const PipelineForm& pipeline_form(Schedule schedule, PipelineModel model);

// With one more stage in front, the s-th from the end.
[[nodiscard]] inline PipelineLabel extended(const PipelineShape& shape, const PipelineLabel& after,
                                            const StagePass& pass, std::int64_t s) {
  return shape.form->extended(shape, after, pass, s);
}
// Of all stages.
[[nodiscard]] inline Seconds pipeline_total(const PipelineShape& shape, const PipelineLabel& label) {
  return Seconds{shape.form->total(shape, label)};
}
// No pipeline whose last s stages have this label, and whose other stages take at least `f` and `b` in sum,
// is shorter.
[[nodiscard]] Seconds pipeline_bound(const PipelineShape& shape, const PipelineLabel& label, std::int64_t s,
                                     Seconds f, Seconds b);
// No pipeline of stages that take `f` and `b` in sum, one of them at least `longest` either way, is shorter.
[[nodiscard]] Seconds pipeline_bound(const PipelineShape& shape, Seconds f, Seconds b,
                                     const StagePass& longest);

}  // namespace nest::price
