// What `nest plan` says besides the plan: why not otherwise, what would make it fit, and what the search did.
//
//   Why not tensor=4?
//     9.12 s a step: 6.2 % (530 ms) longer than the best plan. It loses most by bubble: +410 ms.
#pragma once

#include <string>
#include <vector>

#include "nest/plan/inputs.hpp"
#include "nest/report/answer/plan_screen.hpp"
#include "nest/solve/ask/advice.hpp"
#include "nest/solve/ask/why_not.hpp"

namespace nest::report {

[[nodiscard]] std::string why_not_text(const WhyNot& answer, const Plan& best,
                                       const ScreenOptions& options = {});

// "no plan for MODEL on CLUSTER: ..." with what would make one possible.
[[nodiscard]] std::string unfit_text(const SearchResult& found, const PlanInputs& inputs,
                                     const AdviceList& advice);

// The search's counts and times.
[[nodiscard]] std::string stats_text(const SearchStats& stats, const ScreenOptions& options = {});

}  // namespace nest::report
