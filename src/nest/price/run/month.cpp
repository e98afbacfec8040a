#include "nest/price/run/month.hpp"

#include <cmath>

namespace nest::price {
namespace {

constexpr int kSteps = 2000;  // of Simpson's rule; even

double binomial(std::int64_t n, std::int64_t k, double p) {
  if (k > n) return 0;
  if (p <= 0) return k == 0 ? 1 : 0;
  if (p >= 1) return k == n ? 1 : 0;
  const auto of = [](std::int64_t m) { return std::lgamma(static_cast<double>(m) + 1); };
  return std::exp(of(n) - of(k) - of(n - k) + static_cast<double>(k) * std::log(p) +
                  static_cast<double>(n - k) * std::log1p(-p));
}

}  // namespace

std::vector<double> down_shares(const NodeFailures& failures, std::int64_t most, Seconds time) {
  std::vector<double> shares(static_cast<std::size_t>(most) + 1, 0);
  const double between = failures.between.value;
  const double repair = failures.repair.value;
  const double rate = repair > 0 ? 1 / between + 1 / repair : 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double at = time.value * i / kSteps;
    const double p = repair > 0 ? repair / (between + repair) * -std::expm1(-at * rate) : 0;
    const double weight = (i == 0 || i == kSteps ? 1 : i % 2 == 1 ? 4 : 2) / (3.0 * kSteps);
    for (std::size_t k = 0; k < shares.size(); ++k)
      shares[k] += weight * binomial(failures.nodes, static_cast<std::int64_t>(k), p);
  }
  return shares;
}

}  // namespace nest::price
