// The search, told that memory is endless. Its plans are then held against the real devices, best first: the
// first that fits is the answer.
//
//   const BaselineResult blind = find_no_memory(question, {});
//   blind.notes.front()   -> "its first choice needs 31.5 GB more than a device has"
#pragma once

#include "nest/solve/baselines/common/baseline.hpp"

namespace nest::solve {

[[nodiscard]] BaselineResult find_no_memory(const PlanQuestion& question, const BaselineOptions& options);

}  // namespace nest::solve
