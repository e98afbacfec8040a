#include "nest/estimate/layer_cost.hpp"

#include <algorithm>

namespace nest {
namespace {

void add(CollectiveSeconds& sums, const CollectiveShape& collective, Seconds time) {
  switch (collective.group) {
    case GroupAxis::tensor:
      sums.tensor += time;
      break;
    case GroupAxis::context:
      sums.context += time;
      break;
    case GroupAxis::expert:
    case GroupAxis::expert_tensor:
      sums.expert += time;
      break;
  }
}

// The largest set of gradients that one operator's backward pass holds at once: those of what it read and
// made.
Bytes widest_gradients(const LayerType& layer) {
  Bytes most;
  for (const Operator& op : layer.operators) {
    Bytes sum;
    for (const TensorIndex i : op.inputs) sum += layer.tensor(i).bytes();
    for (const TensorIndex i : op.outputs) sum += layer.tensor(i).bytes();
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace

LayerCost layer_cost(const ShardedLayer& sharded, RecomputePolicy policy, const OperatorTimes& times,
                     const CellNetwork& network) {
  const LayerType& layer = sharded.layer;
  LayerCost cost;
  const LayerTime time = times.layer(layer);
  cost.forward = time.forward();
  cost.backward = time.backward();
  cost.backward_weight = time.device.backward_weight;
  cost.source = time.device.source;
  cost.launch_bound = time.launch_bound;
  for (const Operator& op : layer.operators) {
    if (op.kind != OperatorKind::collective) continue;
    add(cost.forward_collectives, op.collective, network.time(op.collective, Direction::forward));
    add(cost.backward_collectives, op.collective, network.time(op.collective, Direction::backward));
  }

  const RecomputeCost again = recompute_cost(sharded, policy);
  int launches = 0;
  for (const std::size_t i : again.operators) {
    const Operator& op = layer.operators[i];
    if (op.kind == OperatorKind::collective) {
      add(cost.backward_collectives, op.collective, network.time(op.collective, Direction::forward));
    } else {
      const OperatorTime once = times.time(layer, op);
      cost.recompute += once.forward;
      launches += once.forward_launches;
    }
  }
  if (cost.launch_bound && time.device.forward_launches > 0) {
    const double share = static_cast<double>(launches) / time.device.forward_launches;
    cost.recompute = std::max(cost.recompute, share * time.forward_issue);
  }
  cost.backward += cost.recompute;

  cost.dense_parameters = sharded.dense_parameters();
  cost.expert_parameters = sharded.expert_parameters();
  cost.shared_parameters = sharded.shared_parameters();
  cost.stash = again.stash;
  cost.transient = again.transient + widest_gradients(layer);
  return cost;
}

ParameterBytes parameter_bytes(const LayerCost& cost, const Recipe& recipe) {
  const std::int64_t trained = cost.parameters();
  return {Bytes{(trained + cost.shared_parameters) * recipe.weight_bytes_per_parameter()},
          Bytes{trained * recipe.gradient_bytes_per_parameter()},
          Bytes{trained * recipe.optimizer_bytes_per_parameter()}};
}

}  // namespace nest
