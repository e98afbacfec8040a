#include "nest/base/document/error_summary.hpp"

#include <algorithm>
#include <cmath>

namespace nest::base {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

ErrorSummary summarize_errors(std::string name, const std::vector<double>& errors) {
  ErrorSummary out{std::move(name), static_cast<std::int64_t>(errors.size())};
  if (errors.empty()) return out;
  std::vector<double> sizes = errors;
  for (double& e : sizes) e = std::abs(e);
  std::sort(sizes.begin(), sizes.end());
  out.median = median_of(sizes);
  out.p90 = sizes[static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(sizes.size()))) - 1];
  out.signed_median = median_of(errors);
  return out;
}

Value to_value(const ErrorSummary& s) {
  const auto figure = [&](double e) { return s.rows > 0 ? Value(e) : Value(); };
  Value out = Value::object();
  if (!s.name.empty()) out.set("name", s.name);
  out.set("rows", s.rows).set("median_abs_error", figure(s.median)).set("p90_abs_error", figure(s.p90));
  out.set("median_error", figure(s.signed_median));
  return out;
}

}  // namespace nest::base
