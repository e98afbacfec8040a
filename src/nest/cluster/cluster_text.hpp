// A cluster file for people: YAML with units, a level in each line. It reads back as the same cluster.
//
//   name: h100-spine-leaf
//   accelerator: h100-sxm
//   levels:
//     - {name: node, size: 8, bandwidth: 450 GB/s, latency: 1 us}
//   devices: ["node[001-128]/gpu[0-7]"]
#pragma once

#include <string>

#include "nest/cluster/cluster.hpp"

namespace nest::cluster {

[[nodiscard]] std::string cluster_yaml(const Cluster& cluster);

}  // namespace nest::cluster
