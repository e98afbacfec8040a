// Measured runs in tables: the columns of published runs (run_rows.hpp), or of one's own
//
//   plan,step_s,memory_gib,memory_kind              {"runs": [{"plan": "degrees.json", "step_s": 9.9,
//   degrees.json,9.9,61,device                                 "memory_bytes": 65498251264}]}
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/validate/calibrate/fit_runs.hpp"

namespace nest::validate {

// The plan in a file that a table names.
using PlanOpener = std::function<PreparedRun(const std::string& plan_file)>;

// Which kind a table is follows from its columns. Rows that cannot be used are warnings; where none is left, an
// InputError. With `unseen`, constants that were fitted to runs of a row's own source are left out.
[[nodiscard]] std::vector<MeasuredRun> read_measured_csv(const std::string& file, std::string_view text,
                                                         const PlanOpener& open, bool unseen,
                                                         Warnings& warnings);
[[nodiscard]] std::vector<MeasuredRun> read_measured_json(const std::string& file, const std::string& text,
                                                          const PlanOpener& open);

}  // namespace nest::validate
