// Predicted against measured step times of published runs.
//
//   const RunValidation v = validate_runs(read_run_rows(file, text, RunTable::times), price_run);
//   v.headline.median          -> 0.05             fractions of the measured time, usable 16-bit GPU rows
//   to_value(v)                -> {"rows": 275, "usable": 211, "skipped": .., "median_abs_error": .., ..}
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nest/base/document/error_summary.hpp"
#include "nest/base/document/value.hpp"
#include "nest/validate/ordering.hpp"
#include "nest/validate/runs/run_predictor.hpp"
#include "nest/validate/runs/run_rows.hpp"
#include "nest/validate/validation_value.hpp"

namespace nest::validate {

struct RunResult {
  RunRow row;
  bool usable = true;
  std::string why_skipped;
  Seconds measured;             // a step
  double predicted_metric = 0;  // in the row's own unit
  RunPrediction prediction;
  double unseen_error = 0;  // with the constants that were fitted to its own source left out
  std::string
      would_fit;  // of a run that is called too large: the nearest dtype or policy with which it is not
  Flops flops;    // of the model in one step: no recomputation, causal

  [[nodiscard]] bool scored() const { return usable && why_skipped.empty(); }
  [[nodiscard]] double error() const { return prediction.step.value / measured.value - 1; }
  [[nodiscard]] bool inside() const {
    return prediction.interval.low <= measured && measured <= prediction.interval.high;
  }
  [[nodiscard]] bool is_tpu() const { return row.accelerator.starts_with("tpu"); }
  [[nodiscard]] bool is_fp8() const { return row.precision_class == "fp8"; }
  // Those that targets are set for: TPUs and fp8 are reported apart, but in tables of fine-tuning runs.
  [[nodiscard]] bool headline() const {
    return scored() && (!row.tuning_kind.empty() || (!is_tpu() && !is_fp8()));
  }
};

struct RunValidation {
  std::vector<RunResult> rows;
  ErrorSummary
      headline;  // usable 16-bit GPU rows, or fine-tuning rows; all scored rows where there are neither
  ErrorSummary unseen;    // the same rows, constants fitted to a row's own project left out
  ErrorSummary constant;  // one efficiency per project and accelerator, over the same rows
  std::vector<ErrorSummary> strata;
  OrderSummary order;
  CoverageSummary coverage;  // of the intervals around steps

  // Of the scored runs, all of which ran: those that are predicted to fit in memory.
  [[nodiscard]] std::int64_t said_to_fit() const;
  [[nodiscard]] std::int64_t scored() const;
};

struct ValidationOptions {
  bool all = false;  // score rows too that their table calls unusable
  std::optional<Calibration> calibration;
};

// The row as a question, with the constants that the options move.
[[nodiscard]] RunCase prepared_case(const RunRow& row, const ValidationOptions& options,
                                    bool without_own = false);

[[nodiscard]] RunValidation validate_runs(std::span<const RunRow> rows, const RunPredictor& predict,
                                          const ValidationOptions& options = {});

[[nodiscard]] Value to_value(const RunValidation& validation);

}  // namespace nest::validate
