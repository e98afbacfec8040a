// A network that is at least as fast as that of any placement of a strategy; lower bounds are computed on
// it. Cells and their neighbours are as close as they can be, and nobody else communicates. Uneven trees are
// part of an even one, in which nothing is slower. If something is not certain (for example if outer levels
// are faster), it is assumed to cost nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "nest/cluster/cluster.hpp"
#include "nest/estimate/collectives/fabric.hpp"
#include "nest/plan/zero.hpp"
#include "nest/price/network/plan_network.hpp"

namespace nest::solve {

struct RelaxedNetwork {
  StageNetwork stage;        // of every stage
  bool collectives = false;  // whether `stage.cell` is a bound of the cells' collectives
};

enum class ShardKind {
  any,    // memory as with ZeRO over all ranks, traffic free
  whole,  // ZeRO over all ranks, or none
  part,   // over fewer than all
};

struct RelaxedQuestion {
  Strategy strategy;
  std::int64_t copies = 1;  // of the cell
  ShardKind kind = ShardKind::any;
  Zero zero;            // counts with ShardKind::part
  bool listed = false;  // shard sizes are given, and may be of one rank
  bool uneven = false;  // the cluster is the even one of an uneven tree
};

// The smallest even tree that has an uneven one inside; none where the cluster is even, or has uneven levels
// other than switches.
[[nodiscard]] std::optional<Cluster> even_cluster(const Cluster& cluster);

// Of the even cluster where there is one.
[[nodiscard]] RelaxedNetwork relaxed_network(const Cluster& cluster, const FabricConstants& constants,
                                             const CollectiveModel& collectives,
                                             const RelaxedQuestion& question);

}  // namespace nest::solve
