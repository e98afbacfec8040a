// A cluster as ASTRA-sim's analytical network sees it: dimensions of equal size, innermost first, and an NPU
// at every place of them. Devices keep their place, so that in uneven trees some places have no device.
//
//   topology: [ Switch, Switch ]
//   npus_count: [ 8, 4 ]
//   bandwidth: [ 345.8, 43.77 ]  # GiB/s: what libraries reach
//   latency: [ 500, 2500 ]  # ns
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/cluster/cluster.hpp"
#include "nest/estimate/collectives/fabric.hpp"
#include "nest/recipe/recipe.hpp"

namespace nest::frameworks {

struct ChakraDimension {
  std::string topology;  // Switch, Ring, FullyConnected
  std::int32_t npus = 1;
  BytesPerSecond bandwidth;  // of one link
  Seconds hop;               // latency; messages through a switch pay it twice
};

// What a group's collective goes through one after the other: a dimension, or several that are one in truth.
struct ChakraLevel {
  std::int32_t npus = 1;
  BytesPerSecond bandwidth;  // of a member
};

struct ChakraNetwork {
  std::vector<ChakraDimension> dimensions;  // two at least: with one, the simulator frees memory twice
  std::vector<ChakraLevel> levels;
  std::int32_t npus = 1;
  std::vector<std::int32_t> npu_of;  // by device
  std::vector<std::string> lost;     // sentences without a full stop
};

// Links give what the constants say that libraries reach on them.
[[nodiscard]] ChakraNetwork chakra_network(const Cluster& cluster, const FabricConstants& constants);

// All NPUs on a switch as slow as the slowest dimension, written as two dimensions.
[[nodiscard]] std::vector<ChakraDimension> flat_network(const ChakraNetwork& network);

[[nodiscard]] std::string network_text(const std::vector<ChakraDimension>& dimensions);

struct ChakraSystem {
  std::size_t dimensions = 2;
  bool one_level = false;         // rings over all NPUs go through all dimensions at once
  bool group_all_to_all = false;  // all-to-alls are of one group each: one algorithm, which groups then take
  bool roofline = false;          // compute takes what operations and bytes say
};
[[nodiscard]] std::string system_text(const Cluster& cluster, Precision precision,
                                      const ChakraSystem& system);

[[nodiscard]] BytesPerSecond memory_rate_of(const Cluster& cluster);

}  // namespace nest::frameworks
