// Closed forms of the algorithms that one level of a network allows: how many latencies lie one after the
// other, and how many bytes pass through a member, per byte of the message (in the sizes that CollectiveCall
// defines).
//
//   n members                 all-reduce                 reduce-scatter, all-gather   broadcast
//   ring                      2(n-1),       2(n-1)/n     n-1,       (n-1)/n           n-1,          1
//   halving-doubling          2 ceil(lg n), 2(n-1)/n     ceil(lg n), (n-1)/n          2 ceil(lg n), 2(n-1)/n
//   tree                      2 ceil(lg n), 2 (n=2: 1)   -                            ceil(lg n),   ceil(lg n)
//   direct                    2,            2(n-1)/n     1,         (n-1)/n           2,            2(n-1)/n
//   in-network                2,            1            1,         (n-1)/n           1,            1
#pragma once

#include <span>
#include <string_view>

#include "nest/cluster/level.hpp"
#include "nest/model/graph/operator.hpp"
#include "nest/network/groups/group.hpp"

namespace nest::estimate {

enum class Algorithm { ring, halving_doubling, tree, direct, in_network };
[[nodiscard]] std::string_view to_string(Algorithm algorithm);

struct AlgorithmCost {
  double steps = 0;
  double volume = 0;
};

// Halving-doubling of a number of members that is no power of two is Bruck's: as many bytes, a step more. On
// rings, meshes and tori `ring` runs along every dimension, and its steps are hops. The tree is the double
// binary tree in which every link works both ways; for broadcast it is binomial, without pipelining.
[[nodiscard]] AlgorithmCost algorithm_cost(Algorithm algorithm, CollectiveKind kind, const GroupLevel& group);

// For all-reduce, reduce-scatter, all-gather and broadcast. Switches: ring, halving-doubling, tree (not for
// reduce-scatter and all-gather); rings, meshes and tori: ring; fully connected: direct; in-network where the
// level has it.
[[nodiscard]] bool algorithm_allowed(Algorithm algorithm, CollectiveKind kind, LevelKind level,
                                     bool in_network_reduction);

}  // namespace nest::estimate
