// Ways to lay levels over a network. Each gives nested domains and the order of devices that makes every
// domain a range; which bandwidth and latency a level then has, and how far off it is, is for reduce.hpp.
//
//   bottleneck   domains are what is joined at or above a rate (and, at the same rate, within a latency)
//                (bottleneck-tolerant: rates and latencies that lie within 15 % of each other count as one)
//   dimensions   an exact mesh or torus, one ring level for each dimension
//   blocks       groups of devices that are all near each other, doubling the allowed slowness from level
//                to level
//   torus        an exact mesh or torus as one level of that kind
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nest/cluster/level.hpp"
#include "nest/cluster/reduce/graph.hpp"
#include "nest/cluster/reduce/grid_shape.hpp"
#include "nest/cluster/reduce/pairs.hpp"

namespace nest::cluster {

struct Candidate {
  std::string method;
  std::vector<Level> levels;        // names, kinds and fan-outs; the figures are fitted later
  std::vector<std::int32_t> order;  // the device at each leaf
};

// Figures of neighbouring size are one class unless they are more than a factor `gap` apart: noise does not
// split a class. None where that makes more levels than are of use.
[[nodiscard]] std::optional<Candidate> by_bottleneck(const PairTable& table, double gap);
[[nodiscard]] std::optional<Candidate> by_blocks(const PairTable& table);
[[nodiscard]] Candidate by_dimension(const GridShape& shape, std::int32_t devices);
[[nodiscard]] Candidate as_torus(const GridShape& shape, std::int32_t devices);
[[nodiscard]] Candidate flat(std::int32_t devices);

// Turns the innermost level into a fully connected one where every two devices of its domains have a link of
// their own.
void recognise_full_connection(const NetworkGraph& graph, const PairTable& table, Candidate& candidate);

}  // namespace nest::cluster
