// Rows of sweeps as a search would have found them, for tests.
#pragma once

#include <cstddef>

#include "nest/report/sweep/sweep.hpp"

namespace nest::test {
using namespace report;

// A proved plan with so many tokens a second.
[[nodiscard]] inline SweepRow row_of(std::size_t point, double rate) {
  SweepRow row;
  row.point = point;
  row.status = "optimal";
  row.tokens_per_s = rate;
  return row;
}

}  // namespace nest::test
