// What two devices of a wired network get when nobody else talks. Bandwidth is that of the widest path: the
// largest rate such that links at least as wide join the two. Latency is the least over the paths that are as
// wide as that. Messages may pass through switches and through other devices.
#pragma once

#include "nest/cluster/reduce/graph.hpp"
#include "nest/cluster/reduce/pairs.hpp"

namespace nest::cluster {

[[nodiscard]] PairTable pair_figures(const NetworkGraph& graph);

}  // namespace nest::cluster
