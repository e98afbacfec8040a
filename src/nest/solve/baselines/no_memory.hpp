// The search with unlimited memory. Its plans are then checked against the real devices in their order,
// and the first that fits is the answer.
//
//   const BaselineResult blind = find_no_memory(question, {});
//   blind.notes.front()   -> "its first choice needs 31.5 GB more than a device has"
#pragma once

#include "nest/solve/baselines/common/baseline.hpp"

namespace nest::solve {

[[nodiscard]] BaselineResult find_no_memory(const PlanQuestion& question, const BaselineOptions& options);

}  // namespace nest::solve
