// A search among combinations of dtypes (question/state_choices.hpp). Each is a search of its own, which counts only
// plans that are better than the best so far: one proof over all of them.
//
//   ask_states(question, state_values(..), ask)   -> the plan with the shortest step, with moments in bf16
#pragma once

#include <vector>

#include "nest/solve/ask/search.hpp"

namespace nest::solve {

// The first combination wins ties. The answer has the plans of the best one, and a status and a bound over all. Where
// nothing fits, it is that of the combination that needs the least memory.
[[nodiscard]] SearchResult ask_states(const PlanQuestion& question, const std::vector<States>& states,
                                      const SearchFunction& searching);

}  // namespace nest::solve
