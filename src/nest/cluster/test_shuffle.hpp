// For tests: the same network in a file that lists equal siblings in another order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "nest/cluster/cluster.hpp"

namespace nest::test {
using namespace cluster;

// Moves the children of every domain whose messages do not pass through them. `random` decides.
[[nodiscard]] inline Cluster shuffled(const Cluster& cluster, std::mt19937_64& random) {
  const DeviceTree& tree = cluster.tree();
  ClusterParts parts = cluster.parts();
  std::vector<std::int32_t> domains{0};
  for (std::int32_t l = tree.levels(); l-- > 0;) {
    Level& level = parts.levels[static_cast<std::size_t>(l)];
    std::vector<std::int32_t> inside;
    for (std::size_t i = 0; i < domains.size(); ++i) {
      std::vector<std::int32_t> children(static_cast<std::size_t>(tree.children(LevelId{l}, domains[i])));
      std::iota(children.begin(), children.end(), tree.first_child(LevelId{l}, domains[i]));
      if (!level.fan_out.uniform()) level.fan_out.sizes[i] = static_cast<std::int32_t>(children.size());
      for (std::size_t n = children.size(); n > 1 && !level.hops_through_children(); --n)
        std::swap(children[n - 1], children[random() % n]);
      inside.insert(inside.end(), children.begin(), children.end());
    }
    domains = std::move(inside);
  }
  return Cluster(std::move(parts));
}

}  // namespace nest::test
