// A picture of a cluster's hierarchy: one domain of each level drawn inside one of the next, the others as
// slips with their number, so that 131,072 devices take no more room than 1,024. Meshes and tori show their
// grid.
//
//   +-- spine: switch of 32 racks -----------------------------+
//   |   50 GB/s, 10 us, 4:1 oversubscribed                     |
//   |  +-- rack: switch of 4 nodes -----------------+  |  |    |
//   |  |  +-- node: switch of 8 devices -+  |  |    |  |  | x32|
//   |  |  |  [] [] [] [] [] [] [] []     |  |  | x4 |  |  |    |
#pragma once

#include <string>

#include "nest/cluster/cluster.hpp"

namespace nest::cluster {

[[nodiscard]] std::string cluster_svg(const Cluster& cluster);

}  // namespace nest::cluster
