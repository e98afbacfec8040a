// A network as it is wired: devices, switches and links. Graph files are described in docs/formats/graph.md:
//
//   name: two-nodes
//   accelerator: h100-sxm
//   devices: 8                                 # d0 .. d7; or a list: [gpu0..7]
//   switches: [nv0..1, leaf]
//   links:
//     - {between: [d0..3, nv0], bandwidth: 450 GB/s, latency: 500 ns}
//     - {between: [d4..7, nv1], bandwidth: 450 GB/s, latency: 500 ns}
//     - {between: [d0..7, leaf], bandwidth: 50 GB/s, latency: 2.5 us}
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/base/document/document.hpp"
#include "nest/base/units.hpp"
#include "nest/cluster/accelerator.hpp"

namespace nest::cluster {

// Tables of all pairs are kept in memory: 4,096 devices are 8.4 million pairs.
inline constexpr std::int32_t kMostGraphDevices = 4096;
inline constexpr std::int32_t kMostGraphNodes = 65536;
inline constexpr std::int64_t kMostGraphLinks = 2'000'000;

// Both directions at once have this bandwidth each. Parallel links between the same two nodes are added up.
struct Link {
  std::int32_t a = 0;  // nodes: devices first, in their order, then switches
  std::int32_t b = 0;
  BytesPerSecond bandwidth;
  Seconds latency;
};

struct NetworkGraph {
  std::string name;
  Accelerator accelerator;
  std::int32_t devices = 0;
  std::vector<std::string> names;  // of all nodes
  std::vector<Link> links;         // at most one between two nodes

  [[nodiscard]] std::int32_t nodes() const { return static_cast<std::int32_t>(names.size()); }
};

[[nodiscard]] NetworkGraph read_graph(const Document& document);

// Adds parallel links up: bandwidths sum, the least latency stands. read_graph has done so already.
[[nodiscard]] std::vector<Link> merge_parallel(std::vector<Link> links);

}  // namespace nest::cluster
