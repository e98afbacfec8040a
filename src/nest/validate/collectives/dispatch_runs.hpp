// Measured dispatches and combines of tokens (expert_dispatch.csv: DeepEP's normal kernels) beside what the model of
// token exchanges says. A call counts with its notification.
//
//   check_dispatches(file, text).all.median   -> 0.05
#pragma once

#include <string>
#include <string_view>

#include "nest/validate/collectives/collective_runs.hpp"

namespace nest::validate {

// Two results a row, in the strata "dispatch, one node", "combine, several nodes", ... Throws an InputError with file
// and line where a column or a number is missing.
[[nodiscard]] CollectiveRuns check_dispatches(const std::string& file, std::string_view text);

}  // namespace nest::validate
