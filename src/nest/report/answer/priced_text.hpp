// A priced plan for people: what it is, where its step goes, and what every stage holds in memory.
//
//   Where the step goes
//   part       time   share
//   compute  8.37 s  83.7 %  #################################
#pragma once

#include <string>

#include "nest/plan/inputs.hpp"
#include "nest/price/price.hpp"
#include "nest/report/answer/plan_screen.hpp"

namespace nest::report {

// The plan must be complete and valid; one that does not fit says so.
[[nodiscard]] std::string priced_text(const Plan& plan, const PricedPlan& priced, const PlanInputs& inputs,
                                      const ScreenOptions& options = {});

}  // namespace nest::report
