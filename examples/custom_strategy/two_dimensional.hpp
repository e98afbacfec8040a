// Two-dimensional tensor parallelism: t = rows * columns devices as a grid. Heads, ffn and vocabulary are
// split over the rows group, hidden over the columns group, so that hidden states are never whole on a
// device.
//
//   [.., hidden/columns] x [hidden/columns, ffn/rows]   partial over columns: summed there, [.., ffn/rows]
//   [.., ffn/rows]       x [ffn/rows, hidden/columns]   partial over rows: summed there, [.., hidden/columns]
//
// With one column it is ordinary tensor parallelism.
#pragma once

#include <cstdint>
#include <vector>

#include "nest/api/strategy.hpp"

struct Grid {
  std::int64_t rows = 1;
  std::int64_t columns = 1;

  [[nodiscard]] std::int64_t devices() const { return rows * columns; }
};

// Active where the strategy's tensor degree is the grid's number of devices.
[[nodiscard]] nest::SubgraphStrategy two_dimensional(Grid grid);

// The library's table, in which this tensor degree means the grid; the other degrees mean what they did.
[[nodiscard]] std::vector<nest::SubgraphStrategy> table_with(Grid grid);
