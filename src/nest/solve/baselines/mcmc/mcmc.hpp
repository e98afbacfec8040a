// The baseline mcmc: simulated annealing over degrees, stage boundaries and placement, as FlexFlow and
// TopoOpt search. It proves nothing; what it finds gets better with the number of plans that it may price.
//
//   const BaselineResult found = find_mcmc(question, {.seed = 1, .evaluations = 20'000});
//   found.plan->predicted->step, found.curve
#pragma once

#include "nest/solve/baselines/common/baseline.hpp"

namespace nest::solve {

// The same for the same seed and number of evaluations; where a limit in seconds ends it, the result depends
// on the machine.
[[nodiscard]] BaselineResult find_mcmc(const PlanQuestion& question, const BaselineOptions& options);

}  // namespace nest::solve
