// The recomputations that a stage may choose from.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nest/strategies/recompute.hpp"

namespace nest::question {

class RecomputeChoices {
 public:
  // `listed`: SearchSpace::recompute; empty: all there are.
  explicit RecomputeChoices(const std::vector<Recompute>& listed = {});
  // One of `of` for all stages.
  RecomputeChoices(const Recompute& only, const RecomputeChoices& of);

  // Leaves whole stages only.
  void drop_parts();
  // For layers to which it is the same as none. What was listed stays.
  void drop_selective() {
    if (below_all_) policy_[static_cast<std::size_t>(RecomputePolicy::selective)] = false;
  }

  [[nodiscard]] bool allows(RecomputePolicy policy) const {
    return policy_[static_cast<std::size_t>(policy)];
  }
  // Whether a stage may recompute `layers` of its layers fully, fewer than all.
  [[nodiscard]] bool allows_part(std::int64_t layers) const;

  // For a stage with so many layers that can recompute, less first.
  [[nodiscard]] std::vector<Recompute> of_stage(std::int64_t recomputable) const;
  // For all stages alike: every value that a stage of at most so many layers may have.
  [[nodiscard]] std::vector<Recompute> uniform(std::int64_t most) const;

 private:
  bool policy_[3] = {false, false, false};
  bool any_part_ = false;
  bool below_all_ = false;  // as where nothing is listed: parts are fewer layers than the stage has
  std::vector<std::int64_t> parts_;
};

}  // namespace nest::question
