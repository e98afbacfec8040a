// Devices that somebody must rent to use some of them: nodes (innermost domains) are not sold in parts, but
// of a single grid there are smaller slices (cluster/slices.hpp). Grids that a network joins are rented whole:
// jobs over several slices want equal ones.
//
//   least_rented(h100_spine_leaf, 12) == 16
//   RentedDevices rented(cluster);
//   rented.use(DeviceId{3});
//   rented.total() == 8
#pragma once

#include <cstdint>
#include <vector>

#include "nest/base/ids.hpp"
#include "nest/cluster/cluster.hpp"
#include "nest/network/cells/placement.hpp"

namespace nest::network {

// Counts, domain by domain, devices that are used. Each is told once.
class RentedDevices {
 public:
  // The cluster outlives this.
  explicit RentedDevices(const Cluster& cluster);

  void use(DeviceId device, std::int32_t following = 0);
  [[nodiscard]] std::int64_t total() const;

 private:
  const Cluster* cluster_;
  std::vector<std::int32_t> used_;  // by innermost domain
};

// For cells that the placement rule puts into cluster.sorted().
[[nodiscard]] std::int64_t rented_by(const Cluster& cluster, const SlotTable& slots);

// No placement of so many devices rents fewer.
[[nodiscard]] std::int64_t least_rented(const Cluster& cluster, std::int64_t devices);

}  // namespace nest::network
