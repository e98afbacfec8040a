// The recomputations that a stage may choose from.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nest/strategies/recompute.hpp"

namespace nest::question {

class RecomputeDomain {
 public:
  // `listed`: SearchSpace::recompute. Without `selective`, the default domain has no selective recomputation.
  RecomputeDomain(const std::vector<Recompute>& listed, bool selective);
  // One of `of` for all stages.
  RecomputeDomain(const Recompute& only, const RecomputeDomain& of);

  // Leaves whole stages only.
  void drop_parts();

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
  bool below_all_ = false;  // parts are fewer layers than the stage has
  std::vector<std::int64_t> parts_;
};

}  // namespace nest::question
