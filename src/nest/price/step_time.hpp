// The step from the costs of its stages: the pipeline, and the end of the step (docs/design.md, section 5).
// Fills in the prediction, part by part, for the device that works longest.
#pragma once

#include <vector>

#include "nest/price/pipeline_time.hpp"
#include "nest/price/price.hpp"
#include "nest/price/waiting.hpp"

namespace nest::price {

// `stages` of `priced` are given; pipeline and predicted are made, rates and FLOPs apart. `passes` is
// scratch. `waiting`: what ranks wait for one another.
void step_time(const Plan& plan, PipelineModel model, std::vector<StagePass>& passes, const Waiting& waiting,
               PricedPlan& priced);

}  // namespace nest::price
