#include "nest/estimate/kernels/orthogonalization.hpp"

#include <algorithm>

#include "nest/estimate/kernels/kernel_model.hpp"

namespace nest::estimate {
namespace {

constexpr double kHalf = 2;  // bytes of a value
// Between the products: the square's sum with its factor is read and written (m x m), and the result is added to X.
constexpr double kSquarePasses = 3;
constexpr double kMatrixPasses = 3;
// Once: momentum and gradient are averaged, cast, and divided by their norm.
constexpr double kFirstBytes = 16;
// What the processor takes to issue one iteration: the measured 0.504 ms of 1,024 x 4,096 (data/profiles/h200.host.json),
// which takes the device less than half of it, by five.
constexpr Seconds kIssued{0.1008e-3};

}  // namespace

Seconds orthogonalization(std::int64_t rows, std::int64_t columns, const KernelTimes& times) {
  const std::int64_t m = std::min(rows, columns);
  const std::int64_t n = std::max(rows, columns);
  if (m <= 0) return {};
  const auto product = [&](std::int64_t out_columns, std::int64_t inner) {
    return times.seconds({KernelKind::matmul_forward, {m, out_columns, inner}}).time;
  };
  const double small = static_cast<double>(m) * static_cast<double>(m);
  const double large = static_cast<double>(m) * static_cast<double>(n);
  const double bandwidth = times.rates().bandwidth;
  const Seconds passes{kHalf * (kSquarePasses * small + kMatrixPasses * large) / bandwidth};
  const Seconds iteration = product(m, n) + product(m, m) + product(n, m) + passes;
  return static_cast<double>(kOrthogonalIterations) * std::max(kIssued, iteration) +
         Seconds{kFirstBytes * large / bandwidth};
}

Flops orthogonalization_flops(std::int64_t rows, std::int64_t columns) {
  const auto m = static_cast<double>(std::min(rows, columns));
  const auto n = static_cast<double>(std::max(rows, columns));
  return Flops{kOrthogonalIterations * (4 * m * m * n + 2 * m * m * m)};
}

}  // namespace nest::estimate
