// A what-if study as one HTML page, with its chart, what it shows and all points, and as a table for the
// terminal. Nothing is loaded from anywhere; light and dark as the reader's system is.
#pragma once

#include <string>
#include <vector>

#include "nest/report/sweep/sweep.hpp"

namespace nest::report {

// `command`: what was typed.
[[nodiscard]] std::string sweep_page(const Sweep& sweep, const std::vector<SweepRow>& rows,
                                     const std::string& command);
// For the terminal.
[[nodiscard]] std::string sweep_text(const Sweep& sweep, const std::vector<SweepRow>& rows);

}  // namespace nest::report
