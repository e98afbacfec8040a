// Why a plan takes as long as it does: where the step goes, how near memory is to its end, what binds, and
// what would help, each priced again with one thing changed.
//
//   10 % more compute                    step 9.63 s   -6.1 %
//   10 % more bandwidth at level node    step 10.1 s   -1.4 %
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/price/price.hpp"

namespace nest::report {

struct Effect {
  std::string change;
  PriceStatus status = PriceStatus::feasible;
  std::string reason;  // why it cannot be
  Seconds step;
};

struct Explanation {
  Plan plan;  // with results
  PricedPlan priced;
  std::vector<Effect> effects;      // compute, each level's bandwidth, then more and fewer micro-batches
  std::optional<std::size_t> host;  // of the effects: that of a faster host, where something is offloaded
  std::vector<std::string> binds;   // sentences, the most important first
};

// The plan must be complete; an invalid plan is an InputError with the reason.
[[nodiscard]] Explanation explain(const Plan& plan, const PlanInputs& inputs,
                                  const PriceOptions& options = {});

// The priced plan's own keys, "binds" and "effects".
[[nodiscard]] Value to_value(const Explanation& explanation);

}  // namespace nest::report
