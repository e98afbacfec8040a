// Slices of a grid of devices: a torus or mesh is rented in parts whose longest side was halved once or
// several times, down to four devices, which is what one host of a TPU has. Every one of these is a shape
// that Google's pages list for TPUs.
//
//   slices_of(level of 16 x 16, 16)    -> 2 x 2, 2 x 4, 4 x 4, 4 x 8, 8 x 8, 8 x 16, 16 x 16
//   slices_of(level of 4 x 4 x 8, 4)   -> 1 x 2 x 2, 2 x 2 x 2, 2 x 2 x 4, 2 x 4 x 4, 4 x 4 x 4, 4 x 4 x 8
#pragma once

#include <cstdint>
#include <vector>

#include "nest/cluster/cluster.hpp"

namespace nest::cluster {

// From the smallest to the level itself, which is the only one of a level that is no grid. A side that was
// halved closes into a ring if it is at least `wraps_from` long; 0: none does.
[[nodiscard]] std::vector<Level> slices_of(const Level& level, std::int64_t wraps_from);

// What is rented of an innermost domain with `size` devices of which `used` are used: all of it or, of a
// grid, the smallest slice that has so many.
[[nodiscard]] std::int64_t rented_of_domain(const Cluster& cluster, std::int64_t size, std::int64_t used);

// One slice of the innermost level instead of the cluster, for every slice with `least` devices or more that
// is smaller than an innermost domain, smallest first. Nothing where the innermost level is no grid.
[[nodiscard]] std::vector<Cluster> smaller_slices(const Cluster& cluster, std::int64_t least);

}  // namespace nest::cluster
