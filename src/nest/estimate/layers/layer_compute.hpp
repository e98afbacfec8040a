// What one layer costs one device of a cell wherever the cell lies: compute and memory under a recomputation
// policy, and the list of the collectives that its strategy put in. Made once for a layer and a strategy;
// layer_cost puts a network's times to it for every placement.
//
//   const LayerCompute c = layer_compute(shard_layer(type, strategy), RecomputePolicy::full, times);
//   c.collectives[0]     an all-gather of 64 MiB over the tensor group: 2 forward, 2 backward, 2 again
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/estimate/operators/operator_time.hpp"
#include "nest/strategies/recompute.hpp"
#include "nest/strategies/sharded_layer.hpp"

namespace nest::estimate {

// Weights of one device that are not trained, of products that a low precision computes and of others, and bytes of
// those that are held in fewer bits than either.
struct FrozenWeights {
  std::int64_t wide = 0;
  std::int64_t low = 0;
  double packed_bytes = 0;

  [[nodiscard]] bool any() const { return wide + low > 0 || packed_bytes > 0; }
};

// What does not depend on the network.
struct LayerFigures {
  Seconds forward;
  Seconds backward;         // recompute and backward_weight included
  Seconds backward_weight;  // gradients of parameters, which may wait
  Seconds recompute;
  TimeSource source = TimeSource::measured;
  bool launch_bound = false;  // the processor issues kernels more slowly than the device runs them

  Seconds shared_forward;  // of forward: shared experts
  Seconds shared_backward;
  Seconds experts_forward;  // of forward: routed experts, with putting rows in order
  Seconds experts_backward;
  Seconds forward_wait;  // of forward: the device waits for kernels to be issued
  Seconds backward_wait;
  bool overlaps_experts = false;  // exchanges of one micro-batch run beside another's compute
  double memory_bandwidth = 0;    // of the device, bytes/s
  double multiprocessors = 0;     // of the device
  double exchange_share = 0;      // of the multiprocessors: what exchanges take while they run beside compute

  std::int64_t dense_parameters = 0;  // of one device, those apart from the published count included
  std::int64_t expert_parameters = 0;
  // Of both: gradients of which each tensor rank has a part (norms under sequence parallelism).
  std::int64_t partial_parameters = 0;
  std::int64_t low_parameters = 0;     // of both: weights of products that a low precision computes
  std::int64_t matrix_parameters = 0;  // of both: what Muon updates
  std::int64_t shared_parameters = 0;  // copies of weights that another layer trains
  FrozenWeights frozen_dense;          // beside all of these, which are trained
  FrozenWeights frozen_experts;
  bool has_backward = true;
  Bytes stash;      // of one micro-batch in flight
  Bytes transient;  // besides the stash, while the layer's own passes run

  [[nodiscard]] std::int64_t parameters() const { return dense_parameters + expert_parameters; }
};

// When a collective runs.
enum class CollectivePass {
  forward,
  backward,
  again,  // a collective of the forward pass that recomputation repeats, within the backward pass
};
inline constexpr std::size_t kCollectivePasses = 3;

// Equal collectives of a layer, whichever pass they belong to.
struct LayerCollective {
  CollectiveCall shape;                                 // only its forward half is used, in every pass
  std::array<std::int64_t, kCollectivePasses> count{};  // by CollectivePass
  // Of a ring of context ranks: what the device computes beside one hop.
  std::array<Seconds, kCollectivePasses> step{};

  [[nodiscard]] std::int64_t count_of(CollectivePass pass) const {
    return count[static_cast<std::size_t>(pass)];
  }
  [[nodiscard]] Seconds step_of(CollectivePass pass) const { return step[static_cast<std::size_t>(pass)]; }
  // Keys and values that go round the context group, each hop beside a step of attention.
  [[nodiscard]] bool is_ring() const {
    return model::of_context(shape.group) && shape.forward == CollectiveKind::send;
  }
};

struct LayerCompute : LayerFigures {
  std::vector<LayerCollective> collectives;  // in the order in which they first run
};

// How the strategy exchanges tokens with experts: nothing else of a layer's compute depends on its dispatcher.
void set_exchange(LayerCompute& compute, const Strategy& strategy);

[[nodiscard]] LayerCompute layer_compute(const ShardedLayer& layer, const LayerPolicy& policy,
                                         const OperatorTimes& times, const Selective& selective = {});

}  // namespace nest::estimate
