// An experiment's rows as text, CSV, JSON and a chart:
//
//   model       devices  manual  phaze  nest  nest's plan
//   bert-large       64    1.00   1.00  1.02  t1 p1 d64 z0
//   llama3-70b       64       x   0.97  1.01  t4 p4 d4 z0 full
#pragma once

#include <string>
#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/report/reproduce/run_experiment.hpp"

namespace nest::report {

// Degrees in short: "t4 p8 d32 z1 e8 full" (tensor, pipeline, data, ZeRO, expert, recomputation); degrees of
// 1 of expert and interleaving, and no recomputation, are left out. "" without a plan.
[[nodiscard]] std::string short_plan(const ExperimentRow& row);
// "64 devices", or "micro-batch 2" where that is what grows.
[[nodiscard]] std::string group_label(const ExperimentPoint& point);

// Rows of one experiment, those of a sweep side by side; "x" is a method without a feasible plan. Where
// published figures were set beside them, they stand in brackets. nest's plan is left out where it would be
// too wide.
[[nodiscard]] std::string experiment_text(const Experiment& experiment,
                                          const std::vector<ExperimentRow>& rows);
// One line for each row, with the names of the columns in the first.
[[nodiscard]] std::string experiment_csv(const std::vector<ExperimentRow>& rows);
[[nodiscard]] Value to_value(const ExperimentRow& row);
// One panel for each model and sweep.
[[nodiscard]] std::string experiment_chart(const Experiment& experiment, const ExperimentResult& result);

}  // namespace nest::report
