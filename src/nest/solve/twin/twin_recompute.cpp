#include "nest/solve/twin/twin_recompute.hpp"

namespace nest::solve {

TwinRecompute::TwinRecompute(const PlanInputs& inputs, const Training& training, const SearchSpace& space)
    : inputs_(&inputs), space_(&space), points_(points_of(inputs, training, space)) {}

std::vector<Recompute> TwinRecompute::of_stage(std::int64_t recomputable) const {
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

}  // namespace nest::solve
