// Small changes of a launch line, each priced by itself: flags that cost nothing, and the best change of one
// flag. What a whole new plan gains is measured beside them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"

namespace nest::report {

// The inputs with all overlap that Megatron-LM offers, and the flags that turn it on; none where it is on.
struct FreeFlags {
  PlanInputs inputs;
  std::vector<std::string> flags;
};
[[nodiscard]] FreeFlags with_free_flags(const PlanInputs& inputs);

// A plan with one flag changed (or one setting of several flags, as recomputation is).
struct SingleChange {
  std::string flag;  // "--micro-batch-size 2"
  Plan plan;
  Seconds step;
  double memory = 0;  // share of the fullest device
};

// The fastest that fits and that Megatron-LM can run; none where no change fits.
[[nodiscard]] std::optional<SingleChange> best_single_change(const Plan& plan, const PlanInputs& inputs);

// The rule of Megatron-LM that a plan breaks; "" where it runs.
[[nodiscard]] std::string broken_rule(const Plan& plan, const PlanInputs& inputs);

}  // namespace nest::report
