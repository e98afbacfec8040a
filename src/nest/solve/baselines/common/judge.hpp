// The last step of every baseline: its plan is completed, placed, checked and priced on the real cluster,
// whatever the baseline itself expects.
//
//   BaselineResult result;
//   judge(plan, pricer, result);      result.status, result.plan, result.reason
#pragma once

#include "nest/price/price.hpp"
#include "nest/solve/baselines/common/baseline.hpp"

namespace nest::solve {

// Puts the plan with its results into `result`: feasible, or infeasible with the reason. A plan that is not
// even valid leaves no plan.
void judge(Plan plan, Pricer& pricer, BaselineResult& result);

// A pricer of the question: its inputs and pipeline model.
[[nodiscard]] Pricer pricer_of(const PlanQuestion& question);

}  // namespace nest::solve
