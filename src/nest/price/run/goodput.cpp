#include "nest/price/run/goodput.hpp"

#include <cmath>

namespace nest::price {

double goodput(const Failures& failures, Seconds interval) {
  const double m = failures.between.value;
  if (!std::isfinite(m))
    return std::isfinite(interval.value) && interval.value > 0 ? interval / (interval + failures.checkpoint)
                                                               : 1;
  const double restarted = std::exp(-failures.restart.value / m);
  if (interval.value <= 0) return failures.checkpoint.value > 0 ? 0 : restarted;
  return restarted * (interval.value / m) / std::expm1((interval + failures.checkpoint).value / m);
}

Seconds best_interval(const Failures& failures) {
  const double m = failures.between.value;
  if (!std::isfinite(m)) return Seconds::most();
  const double c = failures.checkpoint.value / m;
  if (c <= 0) return Seconds{0};
  // log(1 - x) + x + c falls from c at 0 to minus infinity at 1.
  double low = 0;
  double high = 1;
  for (int i = 0; i < 200; ++i) {
    const double middle = (low + high) / 2;
    if (middle == low || middle == high) break;
    (std::log1p(-middle) + middle + c > 0 ? low : high) = middle;
  }
  return Seconds{low * m};
}

double best_goodput(const Failures& failures) {
  return goodput(failures, best_interval(failures));
}

}  // namespace nest::price
