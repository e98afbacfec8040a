// What a plan leaves open, filled in: batches, degrees that follow from others, the even split.
#pragma once

#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/rules/layer_graph.hpp"

namespace nest::plan {

// The part that needs no model: sequence, micro-batch, pipeline, data, inner copies, micro-batches. What
// contradicts itself is left to check_plan.
void complete_degrees(Plan& plan, const PlanInputs& inputs);

// Stages where there are none, chunks where an interleaved plan has none. Throws an InputError where blocks
// cannot be split.
void complete_stages(Plan& plan, const LayerGraph& graph);

}  // namespace nest::plan
