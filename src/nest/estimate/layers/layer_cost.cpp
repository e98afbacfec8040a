#include "nest/estimate/layers/layer_cost.hpp"

#include <algorithm>

namespace nest::estimate {
namespace {

void add(CollectiveSeconds& sums, GroupAxis group, Seconds time) {
  switch (group) {
    case GroupAxis::tensor:
      sums.tensor += time;
      break;
    case GroupAxis::context:
    case GroupAxis::context_inner:
    case GroupAxis::context_outer:
      sums.context += time;
      break;
    case GroupAxis::expert:
    case GroupAxis::expert_tensor:
      sums.expert += time;
      break;
  }
}

void add_rings(std::vector<ContextRing>& rings, const LayerCollective& c, Seconds once) {
  using enum CollectivePass;
  const Seconds hop = once * (1.0 / static_cast<double>(c.shape.repeats));
  for (const CollectivePass pass : {forward, backward, again}) {
    const Direction direction = pass == forward ? Direction::forward : Direction::backward;
    if (c.count_of(pass) > 0)
      rings.push_back({direction, hop, c.step_of(pass), c.shape.repeats * c.count_of(pass)});
  }
}

}  // namespace

Seconds exposed_context(const LayerCost& cost, Direction direction, double share) {
  const bool forward = direction == Direction::forward;
  Seconds exposed = (forward ? cost.forward_collectives : cost.backward_collectives).context;
  for (const ContextRing& ring : cost.rings) {
    if (ring.direction == direction)
      exposed -= static_cast<double>(ring.hops) * std::min(share * ring.hop, ring.step);
  }
  return std::max(exposed, Seconds{});
}

LayerCost layer_cost(const LayerCompute& compute, const CellNetwork& network) {
  using enum CollectivePass;
  LayerCost cost{compute, {}, {}, {}, {}, {}, {}, {}};
  for (const LayerCollective& c : compute.collectives) {
    const Seconds once = network.time(c.shape, Direction::forward);
    add(cost.forward_collectives, c.shape.group, static_cast<double>(c.count_of(forward)) * once);
    add(cost.backward_collectives, c.shape.group,
        static_cast<double>(c.count_of(backward) + c.count_of(again)) * once);
    if (compute.memory_bandwidth > 0) {
      const Seconds traffic{memory_passes(c.shape.forward) *
                            static_cast<double>(c.shape.forward_bytes.value) / compute.memory_bandwidth};
      add(cost.forward_traffic, c.shape.group, static_cast<double>(c.count_of(forward)) * traffic);
      add(cost.backward_traffic, c.shape.group,
          static_cast<double>(c.count_of(backward) + c.count_of(again)) * traffic);
    }
    if (c.is_ring()) add_rings(cost.rings, c, once);
    if (c.shape.route.experts > 0) {
      const bool back = c.shape.route.back;
      (back ? cost.forward_exchanges.back : cost.forward_exchanges.out) +=
          static_cast<double>(c.count_of(forward)) * once;
      (back ? cost.backward_exchanges.back : cost.backward_exchanges.out) +=
          static_cast<double>(c.count_of(backward)) * once;
    }
  }
  return cost;
}

LayerCost layer_cost(const ShardedLayer& sharded, const LayerPolicy& policy, const OperatorTimes& times,
                     const CellNetwork& network) {
  return layer_cost(layer_compute(sharded, policy, times), network);
}

ParameterBytes parameter_bytes(const LayerFigures& cost, const Recipe& recipe) {
  const std::int64_t trained = cost.parameters();
  return {Bytes{(trained + cost.shared_parameters) * recipe.weight_bytes_per_parameter()},
          Bytes{trained * recipe.gradient_bytes_per_parameter()},
          Bytes{(trained - cost.matrix_parameters) * recipe.optimizer_bytes_per_parameter() +
                cost.matrix_parameters * recipe.matrix_bytes_per_parameter()}};
}

}  // namespace nest::estimate
