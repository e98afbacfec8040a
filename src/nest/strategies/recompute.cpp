#include "nest/strategies/recompute.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

namespace nest::strategies {
namespace {

constexpr std::array<std::string_view, 3> kPolicies{"none", "selective", "full"};

// The attention core and the collectives that context parallelism put around it.
bool in_core(const Operator& op) {
  const bool of_context = op.kind == OperatorKind::collective && op.collective.group == GroupAxis::context &&
                          op.collective.forward != CollectiveKind::broadcast;
  return op.kind == OperatorKind::attention || of_context;
}

// What `needed` has beyond `kept`: made again, and held while it is used.
Bytes made_again(const LayerType& layer, KeptTensors needed, const KeptTensors& kept, double low_bytes) {
  for (const TensorIndex i : kept.whole()) needed.erase(i);
  for (const TensorIndex i : kept.operands()) needed.erase(i);
  return needed.bytes(layer, low_bytes);
}

KeptTensors inputs_of(const LayerType& layer) {
  KeptTensors inputs;
  for (TensorIndex i = 0; i < layer.tensors.size(); ++i) {
    if (layer.tensor(i).role == Role::input) inputs.add(i);
  }
  return inputs;
}

RecomputeCost selective(const LayerType& layer, double low_bytes) {
  RecomputeCost cost;
  std::set<TensorIndex> made_inside;
  KeptTensors needed;  // by the core's backward pass; what is not kept is made again
  KeptTensors kept;
  for (std::size_t i = 0; i < layer.operators.size(); ++i) {
    const Operator& op = layer.operators[i];
    if (!in_core(op)) {
      kept.add(layer, op);
      continue;
    }
    cost.operators.push_back(i);
    for (const TensorIndex in : op.inputs) {
      if (!made_inside.contains(in)) kept.add(in);
    }
    made_inside.insert(op.outputs.begin(), op.outputs.end());
    needed.add(layer, op);
  }
  cost.stash = kept.bytes(layer, low_bytes);
  cost.transient = made_again(layer, std::move(needed), kept, low_bytes);
  return cost;
}

// Products are counted weight by weight: the results of the first, third, ... stay, and attention's.
RecomputeCost every_second(const LayerType& layer, double low_bytes) {
  KeptTensors kept = inputs_of(layer);
  KeptTensors all;
  RecomputeCost cost;
  std::size_t products = 0;
  for (std::size_t i = 0; i < layer.operators.size(); ++i) {
    const Operator& op = layer.operators[i];
    all.add(layer, op);
    if (op.kind == OperatorKind::attention || op.kind == OperatorKind::grouped_matmul) {
      for (const TensorIndex out : op.outputs) kept.add(out);
      continue;
    }
    double again = 0;
    double made = 0;
    for (const TensorIndex out : op.outputs) {
      const auto bytes = static_cast<double>(layer.tensor(out).bytes().value);
      made += bytes;
      if (op.kind == OperatorKind::matmul && ++products % 2 == 1) {
        kept.add(out);
      } else {
        again += bytes;
      }
    }
    if (again <= 0) continue;
    cost.operators.push_back(i);
    cost.shares.push_back(again / made);
  }
  cost.stash = kept.bytes(layer, low_bytes);
  cost.transient = made_again(layer, std::move(all), kept, low_bytes);
  return cost;
}

RecomputeCost full(const LayerType& layer, double low_bytes) {
  const KeptTensors inputs = inputs_of(layer);
  KeptTensors again;
  for (const Operator& op : layer.operators) again.add(layer, op);
  RecomputeCost cost{inputs.bytes(layer, low_bytes),
                     std::vector<std::size_t>(layer.operators.size()),
                     {},
                     made_again(layer, std::move(again), inputs, low_bytes)};
  std::iota(cost.operators.begin(), cost.operators.end(), std::size_t{0});
  return cost;
}

}  // namespace

std::string_view name_of(RecomputePolicy policy) {
  return kPolicies[static_cast<std::size_t>(policy)];
}

std::optional<RecomputePolicy> find_policy(std::string_view name) {
  const auto* const at = std::find(kPolicies.begin(), kPolicies.end(), name);
  if (at == kPolicies.end()) return std::nullopt;
  return static_cast<RecomputePolicy>(at - kPolicies.begin());
}

RecomputePolicy Recompute::of_layer(std::int64_t i) const {
  const bool beyond = policy == RecomputePolicy::full && layers > 0 && i >= layers;
  return beyond ? RecomputePolicy::none : policy;
}

std::string spell(const Recompute& r) {
  const std::string name(name_of(r.policy));
  if (r.policy != RecomputePolicy::full || r.layers == 0) return name;
  return name + " on " + std::to_string(r.layers) + (r.layers == 1 ? " layer" : " layers");
}

bool can_recompute(const LayerType& layer) {
  return std::any_of(layer.operators.begin(), layer.operators.end(),
                     [](const Operator& op) { return op.kind == OperatorKind::attention; });
}

RecomputeCost recompute_cost(const ShardedLayer& sharded, RecomputePolicy policy, SelectiveRecompute kind,
                             Precision precision) {
  const LayerType& layer = sharded.layer;
  const double low = is_low(precision) ? facts_of(precision).operand_bytes : 0;
  if (policy == RecomputePolicy::none || !can_recompute(layer)) return {layer.stash_bytes(low), {}, {}, {}};
  if (policy == RecomputePolicy::full) return full(layer, low);
  return kind == SelectiveRecompute::operators ? every_second(layer, low) : selective(layer, low);
}

}  // namespace nest::strategies
