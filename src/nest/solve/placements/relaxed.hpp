// The network that no placement of a strategy can beat: what bounds are made of. Cells and neighbours lie as
// near as they can, and nobody else talks. Where that is not certain (grids, uneven trees, levels that are
// faster further out), what is uncertain costs nothing.
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

// `copies` of the cell; `listed` shard sizes may be of one rank.
[[nodiscard]] RelaxedNetwork relaxed_network(const Cluster& cluster, const FabricConstants& constants,
                                             const CollectiveModel& collectives, const Strategy& strategy,
                                             std::int64_t copies, ShardKind kind, bool listed);

}  // namespace nest::solve
