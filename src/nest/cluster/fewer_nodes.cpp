#include "nest/cluster/fewer_nodes.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/cluster/resize.hpp"

namespace nest::cluster {
namespace {

// The first `left` devices, which the cluster has.
Cluster cut(const Cluster& cluster, std::int64_t left) {
  const DeviceTree& tree = cluster.tree();
  ClusterParts parts = cluster.parts();
  if (!parts.device_names.empty()) parts.device_names.resize(static_cast<std::size_t>(left));
  for (std::int32_t l = 0; l < tree.levels(); ++l) {
    Level& level = parts.levels[static_cast<std::size_t>(l)];
    std::vector<std::int32_t> sizes;
    std::int64_t children = 0;  // of the domains before
    for (std::int32_t d = 0; children < left; ++d) {
      const std::int64_t own = tree.children(LevelId{l}, d);
      sizes.push_back(static_cast<std::int32_t>(std::min(own, left - children)));
      children += own;
    }
    left = static_cast<std::int64_t>(sizes.size());
    FanOut made = fan_out_of(std::move(sizes));
    if (level.hops_through_children() && made != level.fan_out)
      throw InputError(cluster.name(), "", "its level '" + level.name + "' would have a hole",
                       "devices can be left out below switches only");
    level.fan_out = std::move(made);
  }
  return Cluster(std::move(parts));
}

}  // namespace

Cluster without_nodes(const Cluster& cluster, std::int64_t nodes) {
  if (nodes == 0) return cluster;
  const DeviceTree& tree = cluster.tree();
  const std::int64_t all = tree.domains(LevelId{0});
  if (nodes >= all)
    throw InputError(cluster.name(), "",
                     "there " + std::string(all == 1 ? "is" : "are") + " only " + format_digits(all) +
                         (all == 1 ? " node" : " nodes") + ": without " + format_digits(nodes) +
                         " none would be left");
  return cut(cluster, tree.first_device(LevelId{0}, static_cast<std::int32_t>(all - nodes)).value);
}

Cluster first_devices(const Cluster& cluster, std::int64_t devices) {
  if (devices == cluster.devices()) return cluster;
  if (devices < cluster.devices()) return cut(cluster, devices);
  const DeviceTree& tree = cluster.tree();
  const std::int64_t child = tree.devices_in_child(LevelId{tree.levels() - 1}, 0);
  return cut(with_devices(cluster, (devices + child - 1) / child * child), devices);
}

}  // namespace nest::cluster
