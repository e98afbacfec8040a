// What every validation of a table says in JSON, whatever its rows hold:
//
//   {"rows", "usable", "skipped", "median_abs_error", "p90_abs_error", "over", "constant_model": {..}}
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/base/document/error_summary.hpp"
#include "nest/base/document/value.hpp"

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

// `all` over the headline's rows; `constant` the same of a constant model, and what that is.
[[nodiscard]] Value head_value(const ValidationHead& head, const ErrorSummary& all,
                               const std::string& constant_what, const ErrorSummary& constant);

}  // namespace nest::validate
