#include "nest/network/cells/rented.hpp"

#include <algorithm>

#include "nest/cluster/slices.hpp"

namespace nest::network {
namespace {

constexpr LevelId kNodes{0};

}  // namespace

RentedDevices::RentedDevices(const Cluster& cluster)
    : cluster_(&cluster), used_(static_cast<std::size_t>(cluster.tree().domains(kNodes)), 0) {}

void RentedDevices::use(DeviceId device, std::int32_t following) {
  const DeviceTree& tree = cluster_->tree();
  const std::int32_t last = device.value + following;
  for (std::int32_t at = device.value; at <= last;) {
    const std::int32_t domain = tree.domain_of(DeviceId{at}, kNodes);
    const std::int32_t end = tree.first_device(kNodes, domain).value + tree.devices_in(kNodes, domain);
    const std::int32_t next = std::min(end, last + 1);
    used_[static_cast<std::size_t>(domain)] += next - at;
    at = next;
  }
}

std::int64_t RentedDevices::total() const {
  std::int64_t devices = 0;
  for (std::size_t domain = 0; domain < used_.size(); ++domain) {
    const std::int32_t size = cluster_->tree().devices_in(kNodes, static_cast<std::int32_t>(domain));
    devices += used_.size() == 1   ? rented_of_domain(*cluster_, size, used_[domain])
               : used_[domain] > 0 ? size
                                   : 0;
  }
  return devices;
}

std::int64_t rented_by(const Cluster& cluster, const SlotTable& slots) {
  RentedDevices rented(cluster.sorted());
  for (const std::int32_t start : slots.starts)
    rented.use(DeviceId{start}, static_cast<std::int32_t>(slots.cell) - 1);
  return rented.total();
}

std::int64_t least_rented(const Cluster& cluster, std::int64_t devices) {
  const DeviceTree& tree = cluster.tree();
  const std::int64_t node = tree.devices_in(kNodes, 0);
  if (tree.domains(kNodes) == 1) return rented_of_domain(cluster, node, devices);
  if (!tree.regular(kNodes)) return devices;  // nodes that differ may add up to just so many
  return (devices + node - 1) / node * node;
}

}  // namespace nest::network
