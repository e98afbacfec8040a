// The same cluster with another number of devices: `--devices N`. N is either a whole number of the outermost
// level's children, or k whole children of an inner level (the levels outside it then have size 1).
//
//   with_devices(h100_spine_leaf, 2048)   -> 8 x 4 x 64
//   with_devices(h100_spine_leaf, 16)     -> 8 x 2 x 1
//   with_devices(h100_spine_leaf, 100)    throws: "h100-spine-leaf: 100 devices do not fit its levels;
//                                                  the nearest numbers that do are 96 and 128"
#pragma once

#include <cstdint>
#include <optional>

#include "nest/cluster/cluster.hpp"

namespace nest::cluster {

// Meshes and tori keep their dimensions, and uneven domains their sizes: only what lies outside them, or is
// cut off whole, changes. A fully connected level that shrinks keeps the rate of each link; one that grows
// keeps the device's total.
[[nodiscard]] Cluster with_devices(const Cluster& cluster, std::int64_t devices);

// One more domain of the innermost level: in the last domain of the level outside it where that is the only one
// or has fewer than others, else in a domain of its own, and so on outwards. Where there is one level only, it
// has one more device. None where a mesh, a torus or a ring would have to grow: what the cluster would then look
// like is not clear.
//
//   with_one_more_domain(8 x 4 x 8)   -> 264 devices: eight racks of four nodes, and one of one node
[[nodiscard]] std::optional<Cluster> with_one_more_domain(const Cluster& cluster);

}  // namespace nest::cluster
