// Small changes of a launch file, each priced by itself: settings that cost nothing, and the best change of one
// setting, in the words of the file's dialect. What a whole new plan gains is measured beside them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nest/frameworks/common/dialect.hpp"
#include "nest/frameworks/megatron/megatron_dialect.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"

namespace nest::report {

// The inputs with all that costs nothing, and the words that turn it on; none where it is on.
struct FreeFlags {
  PlanInputs inputs;
  std::vector<std::string> flags;
};
[[nodiscard]] FreeFlags with_free_flags(const PlanInputs& inputs,
                                        const Dialect& dialect = megatron_dialect());

// A plan with one setting changed.
struct SingleChange {
  std::string flag;  // "--micro-batch-size 2"
  Plan plan;
  Seconds step;
  double memory = 0;  // share of the fullest device
};

// The fastest that fits and that the framework can run; none where no change fits.
[[nodiscard]] std::optional<SingleChange> best_single_change(const Plan& plan, const PlanInputs& inputs,
                                                             const Dialect& dialect = megatron_dialect());

// The rule of the framework that a plan breaks; "" where it runs.
[[nodiscard]] std::string broken_rule(const Plan& plan, const PlanInputs& inputs,
                                      const Dialect& dialect = megatron_dialect());

}  // namespace nest::report
