// The baseline "alpa": the two levels of Alpa (Zheng et al., OSDI 2022) without its profiler, which the
// NEST paper calls Alpa-E. A cost model shards the operators of a layer over the mesh of a stage. Layers
// are cut into stages so that sum + (B-1) max is smallest, on a network of two levels. Memory is checked
// only when a plan is complete.
//
// Candidates are taken in the order of what Alpa believes of them, the first that fits is the answer:
// without recomputation, or else with all layers recomputed (Alpa's remat is a switch of its user's).
#pragma once

#include "nest/solve/baselines/common/baseline.hpp"

namespace nest::solve {

[[nodiscard]] BaselineResult find_alpa(const PlanQuestion& question, const BaselineOptions& options);

}  // namespace nest::solve
