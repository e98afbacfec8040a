// Constants that may be fitted to published runs: one multiplier of compute time for each key, such as
// "a100-80 16bit fsdp". Nothing per run or source. leave_one_out says what a fit is worth for a source that
// it has not seen.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "nest/base/error_summary.hpp"
#include "nest/base/units.hpp"
#include "nest/report/validate_runs.hpp"

namespace nest {

// What a fit sees of a run.
struct FitRow {
  std::string source;
  std::vector<std::string>
      keys;  // from the most special to the most general; the first that is known applies
  Seconds measured;
  Seconds compute;  // of the predicted step: what a multiplier stretches
  Seconds other;    // of the predicted step: the rest
};

struct FittedConstants {
  std::map<std::string, double> multipliers;

  // 1 where no key is known.
  [[nodiscard]] double of(const FitRow& row) const;
  [[nodiscard]] double error(const FitRow& row) const;  // predicted / measured - 1
};

// "accelerator precision framework", "accelerator precision", "accelerator"; headline rows only.
[[nodiscard]] std::vector<FitRow> fit_rows(std::span<const RunResult> results);

// For each key the multiplier with the least median of |log(predicted / measured)|.
[[nodiscard]] FittedConstants fit_constants(std::span<const FitRow> rows);

using Fit = std::function<FittedConstants(std::span<const FitRow>)>;
// Each source's rows under constants that were fitted to the others' only.
[[nodiscard]] ErrorSummary leave_one_out(std::span<const FitRow> rows, const Fit& fit = fit_constants);

}  // namespace nest
