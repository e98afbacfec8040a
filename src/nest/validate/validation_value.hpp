// What every validation of a table says in JSON, whatever its rows hold:
//
//   {"rows", "usable", "skipped", "median_abs_error", "p90_abs_error", "over", "constant_model": {..}}
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/base/document/error_summary.hpp"
#include "nest/base/document/value.hpp"
#include "nest/price/uncertainty.hpp"

namespace nest::validate {

// {"what", "median_abs_error", "p90_abs_error"}; the figures are null without rows.
[[nodiscard]] Value model_value(const std::string& what, const ErrorSummary& errors);

[[nodiscard]] Value strata_value(const std::vector<ErrorSummary>& strata);

struct ValidationHead {
  std::int64_t rows = 0;
  std::int64_t usable = 0;
  std::int64_t scored = 0;
};
// Of results that say whether they are usable and scored.
template <class Result>
[[nodiscard]] ValidationHead head_of(const std::vector<Result>& results) {
  ValidationHead head{static_cast<std::int64_t>(results.size()), 0, 0};
  for (const Result& r : results) {
    head.usable += r.usable ? 1 : 0;
    head.scored += r.scored() ? 1 : 0;
  }
  return head;
}

// How many measured figures lie inside the intervals that are shown around predicted ones.
struct CoverageSummary {
  std::int64_t rows = 0;
  std::int64_t inside = 0;
  std::int64_t own = 0;  // of sources that the intervals were made from: these prove little

  void add(bool is_inside, bool is_own) {
    ++rows;
    inside += is_inside ? 1 : 0;
    own += is_own ? 1 : 0;
  }
  [[nodiscard]] double share() const {
    return rows > 0 ? static_cast<double>(inside) / static_cast<double>(rows) : 0;
  }
};
// {"interval": 0.8, "rows", "inside", "share", "own_rows", "left_out": {"rows", "inside", "share"}}: where rows are of
// sources that the intervals were made from, also how many runs intervals contain that are made without their source.
[[nodiscard]] Value to_value(const CoverageSummary& coverage, const SpreadSources& sources);
// "80 % intervals contain 81.0 % of 297 measured steps", and whether they were made from the same sources.
[[nodiscard]] std::string spell(const CoverageSummary& coverage, const SpreadSources& sources,
                                const std::string& what);

// `all` over the headline's rows; `constant` the same of a constant model, and what that is.
[[nodiscard]] Value head_value(const ValidationHead& head, const ErrorSummary& all,
                               const std::string& constant_what, const ErrorSummary& constant);

}  // namespace nest::validate
