// Computes how much memory a device must have at least so that some plan of a space fits. It is used for
// advice if nothing fits.
#pragma once

#include <cstdint>

#include "nest/solve/tree/evaluator.hpp"

namespace nest::solve {

// Bytes of the fullest device of the plan that needs least; 0 where there is no plan. Placements and
// frameworks' rules are not looked at: with these, plans may need more. Throws Stopped at the deadline.
[[nodiscard]] Bytes least_memory(const SearchProblem& problem, const Deadline& deadline = Deadline());

}  // namespace nest::solve
