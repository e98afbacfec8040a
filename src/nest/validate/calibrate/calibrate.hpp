// Files that somebody measured become a calibration: logs of frameworks, tables of measured runs, traces of PyTorch's
// profiler and output of nccl-tests. What a file is follows from its text (a table of kinds in calibrate.cpp).
//
//   const CalibrationAnswer answer = calibrate(question);
//   answer.calibration.kernel_time.value   -> 1.062
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/plan/calibration.hpp"
#include "nest/validate/calibrate/fit_network.hpp"
#include "nest/validate/calibrate/fit_runs.hpp"
#include "nest/validate/calibrate/measured_table.hpp"

namespace nest::validate {

struct MeasuredFile {
  std::string name;
  std::string text;
};

struct CalibrationQuestion {
  std::vector<MeasuredFile> files;
  // The plan that ran, of logs and traces, which do not say it.
  std::optional<std::string> plan;
  // A plan file, with model, cluster and recipe.
  PlanOpener open;
  // Where collectives were measured.
  std::function<PlanInputs()> inputs;
  bool unseen = false;  // as if no run of a published row's own source had been seen
};

struct CalibrationAnswer {
  Calibration calibration;
  std::vector<MeasuredFigure> runs;     // steps and memory: seconds, bytes
  std::vector<MeasuredFigure> network;  // collectives: seconds
  Warnings warnings;
};

[[nodiscard]] CalibrationAnswer calibrate(const CalibrationQuestion& question);

[[nodiscard]] Value to_value(const CalibrationAnswer& answer);

}  // namespace nest::validate
