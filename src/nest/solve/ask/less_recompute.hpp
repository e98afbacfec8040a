// A plan with the least recomputation of those that take as long. Where a stage has time to spare, a longer
// backward pass can hide exactly as much of the reductions behind it as it adds: recomputation then costs no
// time, so that a search may choose it, and buys nothing.
//
//   less_recompute(pricer, graph, {.choices = choices}, plan)   // stages without memory trouble keep their activations
#pragma once

#include "nest/plan/plan.hpp"
#include "nest/plan/rules/layer_graph.hpp"
#include "nest/price/price.hpp"
#include "nest/question/recompute_choices.hpp"

namespace nest::solve {

struct LessRecompute {
  RecomputeChoices choices = RecomputeChoices();  // of every stage
  bool same = false;                              // one for all stages
};

// The plan itself where it is not feasible, or where all recomputation is worth its while. Stages are looked at one
// after the other, from the first to the last, and take the least recomputation with which the plan still
// fits and takes no longer but for rounding.
[[nodiscard]] Plan less_recompute(Pricer& pricer, const LayerGraph& graph, const LessRecompute& space,
                                  Plan plan);

}  // namespace nest::solve
