// The table of sub-graph strategies, and the two functions that use it: one says whether a strategy fits a
// model, the other rewrites a layer for one device of the cell.
//
//   const ShardedLayer s = shard_layer(model.type_of(LayerId(1)), {.tensor = 8, .sequence_parallel = true});
//   s.layer.forward_flops()   // of one device
//
// A table of one's own, with other rows, is passed as the last argument; nothing is registered globally.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "nest/model/graph/model.hpp"
#include "nest/strategies/sharded_layer.hpp"
#include "nest/strategies/subgraph_strategy.hpp"

namespace nest::strategies {

// In the order in which they are applied: context, tensor, sequence, expert.
[[nodiscard]] std::span<const SubgraphStrategy> subgraph_strategies();

// The first rule that the strategy breaks. Rules of arithmetic come before those of frameworks.
[[nodiscard]] std::optional<Refusal> check_strategy(
    const Model& model, const Strategy& strategy,
    std::span<const SubgraphStrategy> table = subgraph_strategies());

// The layer of one device. The strategy must be one that check_strategy lets pass, or refuses for a framework
// only.
[[nodiscard]] ShardedLayer shard_layer(const LayerType& layer, const Strategy& strategy,
                                       const ShardOptions& options = {},
                                       std::span<const SubgraphStrategy> table = subgraph_strategies());

// One for each of model.types.
[[nodiscard]] std::vector<ShardedLayer> shard_types(
    const Model& model, const Strategy& strategy, const ShardOptions& options = {},
    std::span<const SubgraphStrategy> table = subgraph_strategies());

}  // namespace nest::strategies
