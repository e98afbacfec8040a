// The sets of modules that are worth running again for one model: those of which no other set, none of the policies none,
// selective and full, and no two of them that share the blocks is both no slower and no larger. They are judged on one device that holds the
// whole model at micro-batch 1: the seconds that run again on the question's accelerator, against what its layers keep
// and the most that one of them needs for a while.
//
//   module_points(inputs, training)      // of deepseek-v3: {layernorm}, {mla_up_proj}, {layernorm, mla_up_proj}, ..
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/question/search_space.hpp"
#include "nest/recipe/recompute_modules.hpp"

namespace nest::question {

// At most so many: of more, those whose absence would cost most are kept.
inline constexpr std::size_t kMostModulePoints = 8;

// Less work first; none for a layer profile. `allowed`: the sets that a framework can say; empty: all.
[[nodiscard]] std::vector<RecomputeModules> module_points(const PlanInputs& inputs, const Training& training,
                                                          const std::vector<RecomputeModules>& allowed = {});

// The same, found when it is first asked for, by whatever thread: most searches never ask.
class ModulePoints {
 public:
  // `inputs` outlive this.
  ModulePoints(const PlanInputs& inputs, Training training, std::vector<RecomputeModules> allowed = {})
      : inputs_(&inputs), training_(std::move(training)), allowed_(std::move(allowed)) {}

  [[nodiscard]] const std::vector<RecomputeModules>& sets() const {
    std::call_once(found_, [this] { sets_ = module_points(*inputs_, training_, allowed_); });
    return sets_;
  }

 private:
  const PlanInputs* inputs_;
  Training training_;
  std::vector<RecomputeModules> allowed_;
  mutable std::once_flag found_;
  mutable std::vector<RecomputeModules> sets_;
};

// Of a question's space; none where it has no sets of modules.
[[nodiscard]] std::shared_ptr<const ModulePoints> points_of(const PlanInputs& inputs,
                                                            const Training& training,
                                                            const SearchSpace& space);

}  // namespace nest::question
