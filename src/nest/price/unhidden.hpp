// What is left of communication that `compute` hides a share of. It comes in n equal parts: the first of a
// gather has nothing to hide behind, and the last of a reduction has nothing left.
#pragma once

#include <algorithm>

namespace nest::price {

[[nodiscard]] inline double unhidden(double communication, double share, double compute, double parts) {
  if (share <= 0) return communication;
  const double hidden =
      std::min({share * communication, compute * (parts - 1) / parts, communication * (parts - 1) / parts});
  return communication - std::max(0.0, hidden);
}

}  // namespace nest::price
