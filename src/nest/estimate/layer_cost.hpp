// What one layer costs one device of a cell: compute, the collectives that its strategy put in, and memory,
// under a recomputation policy. Nothing overlaps here; what may hide behind what is decided where whole steps
// are priced.
//
//   const LayerCost c = layer_cost(shard_layer(type, strategy), RecomputePolicy::none, times, network);
//   c.forward, c.backward      without collectives; backward includes what is computed again
//   c.tensor, c.expert, c.context      forward and backward together
#pragma once

#include <cstdint>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/estimate/cell_network.hpp"
#include "nest/estimate/operator_time.hpp"
#include "nest/recipe/recipe.hpp"
#include "nest/strategies/recompute.hpp"
#include "nest/strategies/sharded_layer.hpp"

namespace nest {

// Of one direction.
struct CollectiveSeconds {
  Seconds tensor;
  Seconds expert;  // expert and expert tensor groups
  Seconds context;

  [[nodiscard]] Seconds total() const { return tensor + expert + context; }
};

struct LayerCost {
  Seconds forward;
  Seconds backward;         // recompute and backward_weight included
  Seconds backward_weight;  // gradients of parameters, which may wait
  Seconds recompute;
  CollectiveSeconds forward_collectives;
  CollectiveSeconds backward_collectives;  // those of recomputation included
  TimeSource source = TimeSource::measured;
  bool launch_bound = false;  // the processor issues kernels more slowly than the device runs them

  std::int64_t dense_parameters = 0;  // of one device, those apart from the published count included
  std::int64_t expert_parameters = 0;
  std::int64_t shared_parameters = 0;  // copies of weights that another layer trains
  Bytes stash;                         // of one micro-batch in flight
  Bytes transient;                     // besides the stash, while the layer's own passes run

  [[nodiscard]] std::int64_t parameters() const { return dense_parameters + expert_parameters; }
  [[nodiscard]] Seconds tensor() const { return forward_collectives.tensor + backward_collectives.tensor; }
  [[nodiscard]] Seconds expert() const { return forward_collectives.expert + backward_collectives.expert; }
  [[nodiscard]] Seconds context() const { return forward_collectives.context + backward_collectives.context; }
};

[[nodiscard]] LayerCost layer_cost(const ShardedLayer& layer, RecomputePolicy policy,
                                   const OperatorTimes& times, const CellNetwork& network);

// Bytes that parameters take on one device before ZeRO shards them.
struct ParameterBytes {
  Bytes weights;
  Bytes gradients;
  Bytes optimizer;

  [[nodiscard]] Bytes total() const { return weights + gradients + optimizer; }
};
[[nodiscard]] ParameterBytes parameter_bytes(const LayerCost& cost, const Recipe& recipe);

}  // namespace nest
