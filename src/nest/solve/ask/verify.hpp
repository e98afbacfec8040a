// The last check before a plan is shown: it is checked and priced independently, and the result is
// compared with what the search says.
//
//   verify_plan(plan, inputs, options.price_options())   -> none, or
//       "the search says 8.59 s a step, the price is 8.61 s"
#pragma once

#include <optional>
#include <string>

#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/price/price.hpp"

namespace nest::solve {

// Relative: what the search and the price of one plan may differ by.
inline constexpr double kPriceTolerance = 1e-9;

[[nodiscard]] std::optional<std::string> verify_plan(const Plan& plan, const PlanInputs& inputs,
                                                     const PriceOptions& options = {});

}  // namespace nest::solve
