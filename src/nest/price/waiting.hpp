// How much longer a step takes than its slowest stage says, because ranks wait for one another: devices of one kind
// differ a little, and sequences of documents differ in the work of attention (docs/lengths.md).
#pragma once

#include <cstdint>

#include "nest/base/units.hpp"

namespace nest::price {

struct Waiting {
  double factor = 1;  // by devices that differ
  Seconds more{};     // by sequences that differ

  // A step with the waiting, and one with it as one without.
  [[nodiscard]] Seconds of(Seconds step) const { return factor * step + more; }
  [[nodiscard]] Seconds before(Seconds step) const {
    return step == Seconds::most() ? step : (step - more) / factor;
  }
};

// Of a plan, by what is known of it before its stages are.
struct WaitingShape {
  std::int64_t pipeline = 1;
  std::int64_t data = 1;  // ranks that have sequences of their own
  std::int64_t micro_batches = 1;
};
// `spread`: standard deviation of the time of one micro-batch, over all stages together.
[[nodiscard]] Seconds uneven_sequences(Seconds spread, const WaitingShape& shape);

}  // namespace nest::price
