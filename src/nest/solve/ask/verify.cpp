#include "nest/solve/ask/verify.hpp"

#include <fmt/format.h>

#include <cmath>

namespace nest::solve {

std::optional<std::string> verify_plan(const Plan& plan, const PlanInputs& inputs,
                                       const PriceOptions& options) {
  if (!plan.placed() || !plan.predicted)
    return "the plan is not complete: devices or a prediction is missing";
  Pricer pricer(inputs, options);
  const PricedPlan priced = pricer.price(plan);
  if (priced.status != PriceStatus::feasible)
    return fmt::format("the price calls the plan {}: {}", name_of(priced.status), priced.reason);
  const double said = plan.predicted->step.value;
  const double found = priced.predicted.step.value;
  if (!(std::abs(said - found) <= kPriceTolerance * found))
    return fmt::format("the search says {:.12g} s a step, the price is {:.12g} s", said, found);
  return std::nullopt;
}

}  // namespace nest::solve
