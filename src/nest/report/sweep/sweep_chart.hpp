// A what-if study as a picture: throughput over the first axis and, where prices are known, what a trillion
// tokens cost; a series for each value of the second axis, a panel for each value of the third. Sizes are
// joined by lines, categories are points alone. Points of the Pareto front are large.
#pragma once

#include <string>
#include <vector>

#include "nest/report/sweep/sweep.hpp"

namespace nest::report {

[[nodiscard]] std::string sweep_chart(const Sweep& sweep, const std::vector<SweepRow>& rows);

}  // namespace nest::report
