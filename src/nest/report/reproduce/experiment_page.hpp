// An experiment as one HTML page: the chart, the table, what was run and how long it took. Nothing is loaded
// from anywhere; light and dark as the reader's system is.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nest/report/reproduce/run_experiment.hpp"

namespace nest::report {

// `facts`: what was run, as pairs of a name and a text: {"command", "nest reproduce figure5"}.
[[nodiscard]] std::string experiment_page(const Experiment& experiment, const ExperimentResult& result,
                                          const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace nest::report
