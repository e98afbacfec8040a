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

// "memory of the fullest device 73.4 GiB (80 %: 70.6 GiB to 76.6 GiB; fits with 97 % or more)", as a line; empty where
// no measured run is like it.
[[nodiscard]] std::string memory_line(const PricedPlan& priced);

// The plan must be complete and valid; one that does not fit says so.
[[nodiscard]] std::string priced_text(const Plan& plan, const PricedPlan& priced, const PlanInputs& inputs,
                                      const ScreenOptions& options = {});

}  // namespace nest::report
