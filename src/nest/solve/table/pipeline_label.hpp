// The time of a pipeline as labels that grow stage by stage, from the last stage to the first, for every
// schedule and pipeline model of price/pipeline_time.hpp. All are monotone: with no label larger, the whole
// pipeline takes no longer, whatever comes before. Lower bounds of what a label can still become are proved
// in pipeline_label.cpp.
#pragma once

#include <array>
#include <cstdint>

#include "nest/price/pipeline_time.hpp"

namespace nest::solve {

enum class PipelineForm { one_f_one_b, gpipe, zb_h1, sum_max, paper };

// Interleaved schedules have no labels: see interleaved_fill.hpp.
[[nodiscard]] PipelineForm pipeline_form(Schedule schedule, PipelineModel model);

struct PipelineShape {
  PipelineForm form = PipelineForm::one_f_one_b;
  std::int64_t stages = 1;
  std::int64_t micro_batches = 1;
};

using PipelineLabel = std::array<double, 3>;

// With one more stage in front, the s-th from the end.
[[nodiscard]] PipelineLabel extended(const PipelineShape& shape, const PipelineLabel& after,
                                     const StagePass& pass, std::int64_t s);
// Of all stages.
[[nodiscard]] double pipeline_total(const PipelineShape& shape, const PipelineLabel& label);
// No pipeline whose last s stages have this label, and whose other stages take at least `f` and `b` in sum,
// is shorter.
[[nodiscard]] double pipeline_bound(const PipelineShape& shape, const PipelineLabel& label, std::int64_t s,
                                    double f, double b);
// No pipeline of stages that take `f` and `b` in sum, one of them at least `longest`, is shorter.
[[nodiscard]] double pipeline_bound(const PipelineShape& shape, double f, double b, double longest);
// The same of interleaved schedules with chunks that take at least `chunk` each, but for the first and last.
[[nodiscard]] double interleaved_bound(std::int64_t stages, std::int64_t micro_batches, double sum,
                                       double longest, double chunk);

}  // namespace nest::solve
