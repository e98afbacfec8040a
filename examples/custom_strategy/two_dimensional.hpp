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

#include "nest/strategies/subgraph_strategy.hpp"

struct Grid {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
};

// Takes the place of the table's tensor row; the strategy's tensor degree must be rows * columns.
[[nodiscard]] nest::SubgraphStrategy two_dimensional(Grid grid);
