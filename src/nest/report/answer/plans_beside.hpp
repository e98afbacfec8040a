// The plans beside the one that an answer takes, best first: the strict optimum where a simpler plan stands in its
// place, then those that come next. The plan that is taken is not among them, so that none stands twice in a table.
//
//   taken  pipeline 4            31.164 s
//   beside pipeline 8, 6 chunks  31.109 s     the strict optimum
//          pipeline 8, 8 chunks  31.155 s
#pragma once

#include <vector>

#include "nest/base/rooms.hpp"
#include "nest/plan/plan.hpp"
#include "nest/solve/search_result.hpp"

namespace nest::report {

// All of them point into `found`, which must have a plan.
[[nodiscard]] std::vector<const Plan*> plans_beside(const SearchResult& found);

// Those of them that come after the strict optimum.
[[nodiscard]] std::vector<const Plan*> runners_up(const SearchResult& found);
// All that are known to be within the noise of prediction of the strict optimum, likewise.
[[nodiscard]] std::vector<const Plan*> near_ties(const SearchResult& found);

}  // namespace nest::report
