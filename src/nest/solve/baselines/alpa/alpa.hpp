// The baseline "alpa": Alpa's two levels (Zheng et al., OSDI 2022) without its profiler, the NEST paper's
// Alpa-E. Operators of a layer are sharded over a stage's mesh by a cost model, layers are cut into stages by
// sum + (B-1) max, on a network of two levels; memory is looked at when a plan is ready.
//
// Candidates are taken in the order of what Alpa believes of them, the first that fits is the answer:
// without recomputation, or else with all layers recomputed (Alpa's remat is a switch of its user's).
#pragma once

#include "nest/solve/baselines/common/baseline.hpp"

namespace nest::solve {

[[nodiscard]] BaselineResult find_alpa(const PlanQuestion& question, const BaselineOptions& options);

}  // namespace nest::solve
