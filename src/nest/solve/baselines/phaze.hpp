// A planner in the manner of Phaze: a dynamic program over pipeline, data, tensor and expert degrees and
// stage boundaries that knows the devices' memory, but one bandwidth for the whole network.
//
//   const BaselineResult phaze = find_phaze(question, {});
#pragma once

#include "nest/solve/baselines/common/baseline.hpp"

namespace nest::solve {

// The part of a space that it looks at: 1F1B, no ZeRO, no context parallelism, one strategy, and full
// recomputation of everything or of nothing. What the space pins stays.
[[nodiscard]] SearchSpace phaze_space(const PlanQuestion& question);

[[nodiscard]] BaselineResult find_phaze(const PlanQuestion& question, const BaselineOptions& options);

}  // namespace nest::solve
