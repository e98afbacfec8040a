// Predicted against published memory of training runs: figures row by row, and whether what ran fits and what
// ran out of memory does not.
//
//   const MemoryValidation v = validate_memory(read_run_rows(file, text, RunTable::memory), price_run);
//   v.ran, v.ran_fit        -> 80 rows, 79 of which are said to fit
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nest/base/document/error_summary.hpp"
#include "nest/validate/memory_case.hpp"
#include "nest/validate/ordering.hpp"
#include "nest/validate/runs/run_predictor.hpp"
#include "nest/validate/validate_runs.hpp"
#include "nest/validate/validation_value.hpp"

namespace nest::validate {

struct MemoryResult {
  RunRow row;
  bool usable = true;
  std::string why_skipped;
  MemoryKind kind = MemoryKind::allocated;
  Bytes measured;  // 0 where it ran out of memory
  Bytes predicted;
  Bytes fixed_part;  // static_bytes
  bool fits = true;
  Bytes low;  // of the interval around what is predicted
  Bytes high;

  [[nodiscard]] bool scored() const { return usable && why_skipped.empty(); }
  // Has a figure that somebody read off a device.
  [[nodiscard]] bool has_error() const {
    return scored() && kind != MemoryKind::out_of_memory && kind != MemoryKind::computed;
  }
  [[nodiscard]] double error() const {
    return static_cast<double>(predicted.value) / static_cast<double>(measured.value) - 1;
  }
};

struct MemoryValidation {
  std::vector<MemoryResult> rows;
  ErrorSummary all;       // rows with a figure that was read off a device
  ErrorSummary constant;  // static bytes times one number for each kind
  std::vector<ErrorSummary> strata;
  OrderSummary order;
  CoverageSummary coverage;  // of figures that were read off devices
  // Computed figures say nothing about either.
  std::int64_t ran = 0;
  std::int64_t ran_fit = 0;
  std::int64_t out_of_memory = 0;
  std::int64_t out_of_memory_right = 0;
};

[[nodiscard]] MemoryValidation validate_memory(std::span<const RunRow> rows, const RunPredictor& predict,
                                               const ValidationOptions& options = {});

[[nodiscard]] Value to_value(const MemoryValidation& validation);

}  // namespace nest::validate
