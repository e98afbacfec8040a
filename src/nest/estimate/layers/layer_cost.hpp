// What one layer costs one device of a cell: compute, the collectives that its strategy put in, and memory,
// under a recomputation policy. Nothing overlaps here; what may hide behind what is decided where whole steps
// are priced.
//
//   const LayerCost c = layer_cost(shard_layer(type, strategy), RecomputePolicy::none, times, network);
//   c.forward, c.backward      without collectives; backward includes what is computed again
//   c.tensor, c.expert, c.context      forward and backward together
//
// Where the same layer is asked for on many networks, layer_compute does once what they have in common:
//
//   const LayerCompute compute = layer_compute(shard_layer(type, strategy), RecomputePolicy::none, times);
//   const LayerCost c = layer_cost(compute, network);
#pragma once

#include <cstdint>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/estimate/collectives/cell_network.hpp"
#include "nest/estimate/layers/layer_compute.hpp"
#include "nest/estimate/operators/operator_time.hpp"
#include "nest/recipe/recipe.hpp"
#include "nest/strategies/recompute.hpp"
#include "nest/strategies/sharded_layer.hpp"

namespace nest::estimate {

// Of one direction.
struct CollectiveSeconds {
  Seconds tensor;
  Seconds expert;  // expert and expert tensor groups
  Seconds context;

  [[nodiscard]] Seconds total() const { return tensor + expert + context; }
};

// Hops of keys and values round the context ranks, one after the other, each beside a step of attention.
struct ContextRing {
  Direction direction = Direction::forward;  // the pass it runs in: what recomputation repeats is backward
  Seconds hop;
  Seconds step;
  std::int64_t hops = 0;
};

// Exchanges with experts of one pass; those that recomputation repeats apart.
struct ExpertExchanges {
  Seconds out;   // to the experts: tokens, or gradients of results
  Seconds back;  // results, or gradients of tokens
};

struct LayerCost : LayerFigures {
  CollectiveSeconds forward_collectives;
  CollectiveSeconds backward_collectives;  // those of recomputation included
  CollectiveSeconds forward_traffic;       // of both: what their bytes take of the device's memory alone
  CollectiveSeconds backward_traffic;
  std::vector<ContextRing> rings;     // their whole times are in context
  ExpertExchanges forward_exchanges;  // their whole times are in expert
  ExpertExchanges backward_exchanges;

  [[nodiscard]] Seconds tensor() const { return forward_collectives.tensor + backward_collectives.tensor; }
  [[nodiscard]] Seconds expert() const { return forward_collectives.expert + backward_collectives.expert; }
  [[nodiscard]] Seconds context() const { return forward_collectives.context + backward_collectives.context; }
};

// What attention does not hide of one direction's context time, where up to `share` of a hop may run beside
// its step: (c - 1) max(0, hop - step) of a ring with share 1. An all-to-all waits for its result and hides
// nowhere.
[[nodiscard]] Seconds exposed_context(const LayerCost& cost, Direction direction, double share);

[[nodiscard]] LayerCost layer_cost(const LayerCompute& compute, const CellNetwork& network);
[[nodiscard]] LayerCost layer_cost(const ShardedLayer& layer, const LayerPolicy& policy,
                                   const OperatorTimes& times, const CellNetwork& network);

// Bytes that parameters take on one device before ZeRO shards them.
struct ParameterBytes {
  Bytes weights;
  Bytes gradients;
  Bytes optimizer;

  [[nodiscard]] Bytes total() const { return weights + gradients + optimizer; }
};
[[nodiscard]] ParameterBytes parameter_bytes(const LayerFigures& cost, const Recipe& recipe);

}  // namespace nest::estimate
