// How much a set of devices can send to another set at once: the maximum flow through the links (Dinic's
// method).
#pragma once

#include <span>

#include "nest/base/units.hpp"
#include "nest/cluster/reduce/graph.hpp"

namespace nest::cluster {

// Devices are nodes of the graph; the two sets share none.
[[nodiscard]] BytesPerSecond max_flow(const NetworkGraph& graph, std::span<const std::int32_t> from,
                                      std::span<const std::int32_t> to);

}  // namespace nest::cluster
