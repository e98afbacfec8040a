// A cluster as ASTRA-sim's analytical network sees it: dimensions of equal size, innermost first, and an NPU
// at every place of them. Devices keep their place, so that in uneven trees some places have no device.
//
//   topology: [ Switch, Switch ]
//   npus_count: [ 8, 4 ]
//   bandwidth: [ 419.1, 46.57 ]  # GiB/s
//   latency: [ 500, 2500 ]  # ns
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/cluster/cluster.hpp"
#include "nest/recipe/recipe.hpp"

namespace nest::frameworks {

struct ChakraDimension {
  std::string topology;  // Switch, Ring, FullyConnected
  std::int32_t npus = 1;
  BytesPerSecond bandwidth;  // of one link
  Seconds hop;               // latency; messages through a switch pay it twice
};

struct ChakraNetwork {
  std::vector<ChakraDimension> dimensions;
  std::int32_t npus = 1;
  std::vector<std::int32_t> npu_of;  // by device
  std::vector<std::string> lost;     // sentences without a full stop
};

[[nodiscard]] ChakraNetwork chakra_network(const Cluster& cluster);

// All NPUs on one switch as slow as the slowest dimension: what a network with contention takes, too.
[[nodiscard]] std::vector<ChakraDimension> flat_network(const ChakraNetwork& network);

[[nodiscard]] std::string network_text(const std::vector<ChakraDimension>& dimensions);
[[nodiscard]] std::string system_text(const Cluster& cluster, Precision precision, std::size_t dimensions);

// The dense peak of that precision's products; that of the best there is where it has none.
[[nodiscard]] FlopsPerSecond peak_of(const Cluster& cluster, Precision precision);
[[nodiscard]] BytesPerSecond memory_rate_of(const Cluster& cluster);

}  // namespace nest::frameworks
