// A what-if study as a picture and as one HTML page: throughput over the first axis, a line for each value of
// the second, a panel for each value of the third; points of the Pareto front are filled. Nothing is loaded
// from anywhere; light and dark as the reader's system is.
#pragma once

#include <string>
#include <vector>

#include "nest/report/sweep/sweep.hpp"

namespace nest::report {

[[nodiscard]] std::string sweep_chart(const Sweep& sweep, const std::vector<SweepRow>& rows);
// `command`: what was typed.
[[nodiscard]] std::string sweep_page(const Sweep& sweep, const std::vector<SweepRow>& rows,
                                     const std::string& command);
// For the terminal.
[[nodiscard]] std::string sweep_text(const Sweep& sweep, const std::vector<SweepRow>& rows);

}  // namespace nest::report
