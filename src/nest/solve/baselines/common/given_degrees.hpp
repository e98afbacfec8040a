// Degrees that somebody else chose (a published table, another planner), with the best that can be made of
// them: stage boundaries, placement, micro-batch and recomputation come from the search.
//
//   find_given_degrees(question, {.pipeline = 32, .data = 8, .tensor = 4})
#pragma once

#include "nest/solve/baselines/common/baseline.hpp"

namespace nest::solve {

// 1F1B, without ZeRO unless nothing fits, recomputation of whole stages, no context parallelism; where the
// question pins one of these, as it says. A global batch that the copies do not divide is raised to the next
// multiple, with a note.
[[nodiscard]] BaselineResult find_given_degrees(const PlanQuestion& question, const GivenDegrees& degrees);

}  // namespace nest::solve
