// A comparison with baselines, as a table for people, as JSON and as a picture.
//
//             tokens/s  of ours    step  plan                      memory  search  loses most by
//   nest       976,344  100.0 %  8.59 s  t4 p8x2 d32 z1 b1 select  70.1 GiB  140 ms
//   manual     874,512   89.6 %  9.59 s  t8 p4 d32 z1 b1           61.0 GiB   21 ms  tensor +1.02 s
#pragma once

#include <string>

#include "nest/base/document/value.hpp"
#include "nest/report/answer/plan_screen.hpp"
#include "nest/solve/baselines/compare.hpp"

namespace nest::report {

// "t4 p8x2 d32 z1 b1 selective": the degrees above 1, chunks after the pipeline, ZeRO, micro-batch,
// recomputation.
[[nodiscard]] std::string brief_degrees(const Plan& plan);

[[nodiscard]] std::string comparison_text(const Comparison& all, const PlanQuestion& question,
                                          const ScreenOptions& options = {});
// {"plans": [{"name", "status", "predicted", "parallelism", ..}]}
[[nodiscard]] Value to_value(const Comparison& all);
// Throughput of each as a bar.
[[nodiscard]] std::string comparison_svg(const Comparison& all, const PlanQuestion& question);

// What every baseline does, knows and leaves out.
[[nodiscard]] std::string baselines_text(const ScreenOptions& options = {});
[[nodiscard]] Value baselines_value();

}  // namespace nest::report
