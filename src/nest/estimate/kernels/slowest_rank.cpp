#include "nest/estimate/kernels/slowest_rank.hpp"

#include <cmath>
#include <numbers>

namespace nest::estimate {
namespace {

constexpr double kNode = 8;

// The mean of the largest of n normal deviates is close to the value that a share of 0.625 / (n + 0.25) exceeds
// (Blom). Newton's method on the logarithm of that share converges from above.
double largest_of(double n) {
  const double share = 0.625 / (n + 0.25);
  double x = std::sqrt(2 * std::log(n));
  for (int i = 0; i < 6; ++i) {
    const double above = 0.5 * std::erfc(x / std::numbers::sqrt2);
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    x += (std::log(above) - std::log(share)) * above / density;
  }
  return x;
}

}  // namespace

double largest_of(std::int64_t deviates) {
  return deviates <= 1 ? 0 : largest_of(static_cast<double>(deviates));
}

double slowest_rank(std::int64_t ranks) {
  static const double kOfNode = largest_of(kNode);
  return static_cast<double>(ranks) <= kNode ? 0 : largest_of(static_cast<double>(ranks)) - kOfNode;
}

}  // namespace nest::estimate
