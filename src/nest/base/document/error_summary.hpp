// How far predictions are from measurements, over many rows.
//
//   summarize_errors("expert > 1", {0.02, -0.10, 0.04})   -> 3 rows, median 4 %, 90th percentile 10 %
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/base/document/value.hpp"

namespace nest::base {

struct ErrorSummary {
  std::string name;
  std::int64_t rows = 0;
  double median = 0;  // of |predicted / measured - 1|
  double p90 = 0;
  double signed_median = 0;  // above 0: predictions are too slow, or too large
};

// The mean of the middle two where the number is even; 0 of nothing.
[[nodiscard]] double median_of(std::vector<double> values);

// `errors` are predicted / measured - 1.
[[nodiscard]] ErrorSummary summarize_errors(std::string name, const std::vector<double>& errors);

// {"name", "rows", "median_abs_error", "p90_abs_error", "median_error"}; the figures are null without rows.
[[nodiscard]] Value to_value(const ErrorSummary& summary);

}  // namespace nest::base
