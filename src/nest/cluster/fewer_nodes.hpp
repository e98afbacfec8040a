// The same cluster without its last devices: the others keep their ids. Domains that lose some of their
// children are smaller than others, and those that lose all of them are gone. That is what is left when nodes
// (innermost domains) fail.
//
//   without_nodes(h100_spine_leaf, 1)   -> 127 nodes of 8; the last rack has 3
#pragma once

#include <cstdint>

#include "nest/cluster/cluster.hpp"

namespace nest::cluster {

// Throws an InputError where no node would be left, or a ring, mesh or torus above the nodes would have a hole.
[[nodiscard]] Cluster without_nodes(const Cluster& cluster, std::int64_t nodes);

// The first `devices` of the cluster, which grows first where it has fewer: also numbers that with_devices
// refuses, as the last node and what lies around it may be smaller than others. Throws where a grid would be cut.
//
//   first_devices(gb200_nvl72, 256)   -> 3 racks of 72 and one of 40
[[nodiscard]] Cluster first_devices(const Cluster& cluster, std::int64_t devices);

}  // namespace nest::cluster
