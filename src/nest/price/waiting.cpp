#include "nest/price/waiting.hpp"

#include <algorithm>
#include <cmath>

#include "nest/estimate/kernels/slowest_rank.hpp"

namespace nest::price {
namespace {

// In a pipeline every pass waits for those of the neighbours' micro-batches: about the slowest of as many as there are
// stages. 1F1B with normal deviates of 10 and 30 %, 2 to 16 stages and 8 to 64 micro-batches, simulated: the first and
// the last wait for nobody, and of the rest 0.87 of the expected value.
constexpr double kInStep = 0.87;
constexpr double kFree = 2;

}  // namespace

Seconds uneven_sequences(Seconds spread, const WaitingShape& shape) {
  if (spread.value <= 0) return {};
  const auto m = static_cast<double>(shape.micro_batches);
  const double ranks = std::sqrt(m) * largest_of(shape.data);
  const double stages =
      kInStep * std::max(0.0, m - kFree) * largest_of(std::min(shape.pipeline, shape.micro_batches));
  return ((ranks + stages) / static_cast<double>(shape.pipeline)) * spread;
}

}  // namespace nest::price
