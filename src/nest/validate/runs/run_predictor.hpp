// What the cost model says about a prepared run. A function, so that validation can be tested without it, and
// so that other models can be put in its place.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nest/plan/plan.hpp"
#include "nest/validate/runs/run_case.hpp"

namespace nest::validate {

struct RunPrediction {
  std::string why_not;  // the plan could not be priced; the rest is empty
  Seconds step;
  StepInterval interval;
  std::string like;  // the measured runs that it comes from
  Breakdown breakdown;
  bool fits = true;
  std::vector<StageMemory> stages;

  // The stage that holds most; none where nothing was priced.
  [[nodiscard]] const StageMemory* fullest() const;

  // The part of the step that a faster processor would shorten. Bubbles are taken as waiting for compute.
  [[nodiscard]] Seconds compute() const {
    return breakdown.compute + breakdown.recompute + breakdown.bubble + breakdown.optimizer;
  }
};

using RunPredictor = std::function<RunPrediction(const PreparedRun&)>;

// Completes and prices the run's plan.
[[nodiscard]] RunPrediction price_run(const PreparedRun& run);

}  // namespace nest::validate
