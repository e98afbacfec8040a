// What members on a ring, mesh or torus get of its links.
//
// A box of members n_0 x n_1 x .., g_d apart in dimension d, runs the bucket algorithm: the data is cut into
// one part for each dimension, and every part goes round all dimensions, each starting in another, so that
// all links work. A dimension that closes into a ring gives both its links, any other the one that the way
// back leaves free; where g_d groups lie interleaved, they share the links.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nest/cluster/level.hpp"

namespace nest::network {

struct GridShare {
  double fraction = 1;  // of a device's bandwidth, for rings
  double exchange = 0;  // time of an all-to-all, per byte a member sends and in units of a device's bandwidth
  std::int32_t steps = 0;  // hops of one pass along all dimensions
};

// `at`: the children with members, ascending; at least two. Members that make no box run one ring in child
// order.
[[nodiscard]] GridShare grid_share(const Level& level, std::int32_t children,
                                   std::span<const std::int32_t> at, bool siblings);

// What goes over the link from one child to its neighbour, of what a member sends. Bytes that only pass through a child
// count as any others.
struct GridFlow {
  std::int32_t from = 0;
  std::int32_t to = 0;
  double share = 1;

  bool operator==(const GridFlow&) const = default;
};
// One message: dimension after dimension, the shorter way round; where both ways of one dimension are equally long, half
// of it takes either.
[[nodiscard]] std::vector<GridFlow> grid_message(const Level& level, std::int32_t children, std::int32_t from,
                                                 std::int32_t to);
// The rings of a group, and its exchange of all with all: their slowest links are what grid_share says. `at` as there.
[[nodiscard]] std::vector<GridFlow> grid_rings(const Level& level, std::int32_t children,
                                               std::span<const std::int32_t> at);
[[nodiscard]] std::vector<GridFlow> grid_exchange(const Level& level, std::int32_t children,
                                                  std::span<const std::int32_t> at);

}  // namespace nest::network
