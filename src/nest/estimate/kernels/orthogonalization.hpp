// What Muon does to a momentum matrix once a step: five Newton-Schulz iterations in bf16, which make it orthogonal. Each
// is three products, X X^T, its square, and the square's times X, and passes over the results in between.
//
//   orthogonalization(4096, 14336, *shared_kernel_times(find_accelerator("h200")))   -> 9.2 ms
#pragma once

#include <cstdint>

#include "nest/base/units.hpp"
#include "nest/estimate/kernels/kernel_time.hpp"

namespace nest::estimate {

inline constexpr int kOrthogonalIterations = 5;  // what frameworks run by default

// Of one matrix, whichever side is longer; several are done one after the other.
[[nodiscard]] Seconds orthogonalization(std::int64_t rows, std::int64_t columns, const KernelTimes& times);

// 5 (4 m^2 n + 2 m^3) with m <= n.
[[nodiscard]] Flops orthogonalization_flops(std::int64_t rows, std::int64_t columns);

}  // namespace nest::estimate
