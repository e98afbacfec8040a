// What the stages of a plan may recompute, for the exhaustive search.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/question/module_points.hpp"
#include "nest/question/search_space.hpp"

namespace nest::solve {

class TwinRecompute {
 public:
  // All outlive this.
  TwinRecompute(const PlanInputs& inputs, const Training& training, const SearchSpace& space);

  // Of a stage with so many layers that can recompute.
  [[nodiscard]] std::vector<Recompute> of_stage(std::int64_t recomputable) const;

 private:
  const PlanInputs* inputs_;
  const SearchSpace* space_;
  std::shared_ptr<const ModulePoints> points_;
};

}  // namespace nest::solve
