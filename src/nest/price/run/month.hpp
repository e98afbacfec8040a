// How many nodes of a run are down, on average over a month that begins with all of them.
//
// Nodes fail and come back independently of each other, each a Markov chain with two states: it fails after
// `between` on average, and is back after `repair`. After a time t it is down with the probability
// p(t) = a (1 - exp(-t (1/between + 1/repair))), where a = repair / (between + repair), and the number of nodes
// that are down is binomial. The shares are the averages of that distribution over the time.
//
//   down_shares({.nodes = 128, .between = Seconds{2.25e7}, .repair = Seconds{86400}}, 2)
//       -> {0.626, 0.289, 0.069}: none, one and two nodes; the rest, 1.6 %, is more than two
#pragma once

#include <cstdint>
#include <vector>

#include "nest/base/units.hpp"

namespace nest::price {

inline constexpr Seconds kMonth{30 * 86'400.0};

struct NodeFailures {
  std::int64_t nodes = 1;
  Seconds between;  // failures of one node
  Seconds repair;
};

// The shares of the time in which 0, 1, .. `most` nodes are down.
[[nodiscard]] std::vector<double> down_shares(const NodeFailures& failures, std::int64_t most,
                                              Seconds time = kMonth);

}  // namespace nest::price
