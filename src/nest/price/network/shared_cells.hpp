// Cells that look alike from inside share one network, so that their layers are priced once.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "nest/price/network/plan_network.hpp"
#include "nest/strategies/strategy.hpp"

namespace nest::price {

using SharedCells = std::vector<std::pair<Strategy, std::shared_ptr<const CellNetwork>>>;

// One of those known that is as good, or the cell itself, which is known from now on.
[[nodiscard]] inline std::shared_ptr<const CellNetwork> shared_cell(
    SharedCells& known, const Strategy& strategy, const std::shared_ptr<const CellNetwork>& cell) {
  const auto same = std::find_if(known.begin(), known.end(), [&](const auto& c) {
    return c.second == cell || (c.first == strategy && same_groups(*c.second, *cell));
  });
  if (same != known.end()) return same->second;
  known.emplace_back(strategy, cell);
  return cell;
}

}  // namespace nest::price
