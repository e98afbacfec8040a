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
  TwinRecompute(const PlanInputs& inputs, const Training& training, const SearchSpace& space)
      : inputs_(&inputs), space_(&space), points_(points_of(inputs, training, space)) {}

  // Of a stage with so many layers that can recompute.
  [[nodiscard]] std::vector<Recompute> of_stage(std::int64_t recomputable) const {
    constexpr Recompute kSets{RecomputePolicy::modules, 0};  // all of the model
    std::vector<Recompute> list = space_->recompute;
    if (list.empty()) {
      list = {{RecomputePolicy::none, 0}, {RecomputePolicy::full, 0}, kSets};
      if (inputs_->profile() == nullptr) list.push_back({RecomputePolicy::selective, 0});
      for (std::int64_t n = 1; n < recomputable; ++n) list.push_back({RecomputePolicy::full, n});
    }
    std::vector<Recompute> all;
    for (const Recompute& r : list) {
      if (r.layers > recomputable) continue;
      if (r != kSets) {
        all.push_back(r);
      } else if (points_ != nullptr) {
        for (const RecomputeModules set : points_->sets()) all.push_back({RecomputePolicy::modules, 0, set});
      }
    }
    return all;
  }

 private:
  const PlanInputs* inputs_;
  const SearchSpace* space_;
  std::shared_ptr<const ModulePoints> points_;
};

}  // namespace nest::solve
