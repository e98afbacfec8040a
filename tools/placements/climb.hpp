// A local search over placements of one plan, for clusters too large to try all: cells change places with one
// another and with free places while that helps, from the plan's own placement and from a few others near it.
#pragma once

#include "nest/price/price.hpp"

namespace nest::tools::study {

// The plan has devices; cells are whole ranges of ids. The best found, with results.
[[nodiscard]] Plan climb(Pricer& pricer, const Plan& plan, unsigned seed);

}  // namespace nest::tools::study
