// What `nest plan` says where there is no plan: what would make one possible. And what the search did.
#pragma once

#include <string>

#include "nest/plan/inputs.hpp"
#include "nest/report/answer/plan_screen.hpp"
#include "nest/solve/ask/advice.hpp"
#include "nest/solve/search_result.hpp"

namespace nest::report {

// "no plan for MODEL on CLUSTER: ..." with what would make one possible.
[[nodiscard]] std::string unfit_text(const SearchResult& found, const PlanInputs& inputs,
                                     const AdviceList& advice);

// The search's counts and times.
[[nodiscard]] std::string stats_text(const SearchStats& stats, const ScreenOptions& options = {});

}  // namespace nest::report
