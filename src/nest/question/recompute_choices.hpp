// The recomputations that a stage may choose from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "nest/question/module_points.hpp"
#include "nest/strategies/recompute.hpp"

namespace nest::question {

class RecomputeChoices {
 public:
  // `listed`: SearchSpace::recompute; empty: all there are. `points`: the model's sets of modules, for whoever lists
  // nothing or the word `modules` alone; without, there are none.
  explicit RecomputeChoices(const std::vector<Recompute>& listed = {},
                            std::shared_ptr<const ModulePoints> points = nullptr);
  // One of `of` for all stages.
  RecomputeChoices(const Recompute& only, const RecomputeChoices& of);

  // Leaves whole stages only.
  void drop_parts();
  // For layers to which it is the same as none. What was listed stays.
  void drop_selective() {
    if (below_all_) policy_[static_cast<std::size_t>(RecomputePolicy::selective)] = false;
  }

  [[nodiscard]] bool allows(RecomputePolicy policy) const {
    if (policy == RecomputePolicy::modules) return !modules().empty();
    return policy_[static_cast<std::size_t>(policy)];
  }
  // Sets of modules that a stage may run again, less work first where they are the model's.
  [[nodiscard]] std::vector<RecomputeModules> modules() const;
  // Whether a stage may recompute `layers` of its layers fully, fewer than all.
  [[nodiscard]] bool allows_part(std::int64_t layers) const;

  // For a stage with so many layers that can recompute, less first.
  [[nodiscard]] std::vector<Recompute> of_stage(std::int64_t recomputable) const;
  // The same in two parts: without sets of modules, and only these.
  [[nodiscard]] std::vector<Recompute> plain_of_stage(std::int64_t recomputable) const;
  [[nodiscard]] std::vector<Recompute> sets_of_stage(std::int64_t recomputable) const;
  // For all stages alike: every value that a stage of at most so many layers may have.
  [[nodiscard]] std::vector<Recompute> uniform(std::int64_t most) const;

 private:
  bool policy_[3] = {false, false, false};
  bool any_part_ = false;
  bool below_all_ = false;  // as where nothing is listed: parts are fewer layers than the stage has
  std::vector<std::int64_t> parts_;
  std::vector<RecomputeModules> modules_;  // listed
  std::shared_ptr<const ModulePoints> points_;
};

}  // namespace nest::question
