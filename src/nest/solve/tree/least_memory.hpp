// How much memory a device needs at least for any plan of a space: what to say where nothing fits.
#pragma once

#include <cstdint>

#include "nest/solve/tree/evaluator.hpp"

namespace nest::solve {

// Bytes of the fullest device of the plan that needs least; 0 where there is no plan. Placements and
// frameworks' rules are not looked at: with these, plans may need more.
[[nodiscard]] std::int64_t least_memory(const SearchProblem& problem);

}  // namespace nest::solve
