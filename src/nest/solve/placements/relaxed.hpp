// A network that is at least as fast as that of any placement of a strategy; lower bounds are computed on
// it. Cells and their neighbours are as close as they can be, and nobody else communicates. If something
// is not certain (on grids, on uneven trees, and if outer levels are faster), it is assumed to cost
// nothing.
#pragma once

#include <cstdint>

#include "nest/cluster/cluster.hpp"
#include "nest/estimate/collectives/fabric.hpp"
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
  bool listed = false;  // shard sizes are given, and may be of one rank
};

[[nodiscard]] RelaxedNetwork relaxed_network(const Cluster& cluster, const FabricConstants& constants,
                                             const CollectiveModel& collectives,
                                             const RelaxedQuestion& question);

}  // namespace nest::solve
