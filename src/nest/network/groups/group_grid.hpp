// What members on a ring, mesh or torus get of its links.
//
// A box of members n_0 x n_1 x .., g_d apart in dimension d, runs the bucket algorithm: the data is cut into
// one part for each dimension, and every part goes round all dimensions, each starting in another, so that
// all links work. A dimension that closes into a ring gives both its links, any other the one that the way
// back leaves free; where g_d groups lie interleaved, they share the links.
#pragma once

#include <cstdint>
#include <span>

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

}  // namespace nest::network
