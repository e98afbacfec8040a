// The answer of `nest plan` as JSON: the plan's own object (docs/formats/plan.md) and what the search adds.
//
//   {"nest": {..}, "status": "optimal", .., "predicted": {..},
//    "strict": {"step_s", "why", ..}, "near_ties": [{"step_s", "loses_most_by", ..}], "runners_up": [..],
//    "warnings": [".."]}
//   {"status": "infeasible", "reason": "..", "advice": [{"kind": "memory", "sentence": "..", ..}]}
#pragma once

#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/text/diff.hpp"
#include "nest/price/price.hpp"
#include "nest/solve/ask/advice.hpp"
#include "nest/solve/search_result.hpp"

namespace nest::report {

// The first plan in full, the next best in short; idle devices and warnings where there are any.
[[nodiscard]] Value answer_value(const SearchResult& found, const PlanInputs& inputs,
                                 const SearchOptions& asked, const Warnings& warnings = {});

// The plans beside the one that is taken, each in full: "alternatives". The strict optimum is the first where a
// simpler plan stands in its place, then the runners-up follow.
[[nodiscard]] Value alternatives_value(const SearchResult& found, const PlanInputs& inputs);

// {"name", "change_s"}: by what a plan loses most.
[[nodiscard]] Value loss_value(const TermDifference& loss);

[[nodiscard]] Value unfit_value(const SearchResult& found, const AdviceList& advice);
[[nodiscard]] Value to_value(const SearchStats& stats);

// {"status", "reason", "predicted", "stages": [{"time", "memory"}]}: what evaluate prints of a plan.
[[nodiscard]] Value priced_value(const PricedPlan& priced);

}  // namespace nest::report
