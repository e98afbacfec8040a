// Constants of a framework on an accelerator from measured runs: which of them explain the measured steps, by how much
// they are off, and how sure that is.
//
//   const RunsFit fit = fit_runs(runs);
//   fit.multiples[0].value   -> 1.062: of kernel_time
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/plan/calibration.hpp"
#include "nest/validate/memory_case.hpp"
#include "nest/validate/runs/run_case.hpp"

namespace nest::validate {

struct MeasuredRun {
  std::string name;  // for people: a file, a row
  PreparedRun run;
  std::optional<Seconds> step;
  // Of a step on one device, by a profiler: kernels that compute, and communication beside which nothing runs.
  std::optional<Seconds> compute;
  std::optional<Seconds> alone;
  std::optional<MemoryFigure> memory;
};

// A measured figure beside what is predicted for it with the shipped constants.
struct MeasuredFigure {
  std::string name;
  std::string what;  // "step", "memory", ..
  double measured = 0;
  double predicted = 0;   // as shipped
  double calibrated = 0;  // with the constants moved
};

struct RunsFit {
  Calibration calibration;  // without names and sources
  std::vector<MeasuredFigure> rows;
};

// Puts constants, and sentences of what stays unknown, into a calibration. Runs of several frameworks or accelerators,
// and plans that cannot be priced, are InputErrors.
[[nodiscard]] RunsFit fit_runs(std::span<const MeasuredRun> runs);

}  // namespace nest::validate
