// Recognises a graph that is exactly a mesh or torus, its devices numbered along the first dimension fastest.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nest/cluster/reduce/graph.hpp"

namespace nest::cluster {

struct GridShape {
  std::vector<std::int32_t> dims;  // each at least 2
  std::vector<bool> wrap;          // never for a dimension of 2, whose two devices have one link
  bool same_links = true;          // all links have the same bandwidth and latency, whatever their dimension
};

// None where there are switches, other links, or links of one dimension that differ. Fewest dimensions first.
[[nodiscard]] std::optional<GridShape> grid_shape(const NetworkGraph& graph);

}  // namespace nest::cluster
