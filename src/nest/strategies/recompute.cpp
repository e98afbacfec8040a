#include "nest/strategies/recompute.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

namespace nest::strategies {
namespace {

constexpr std::array<std::string_view, 3> kPolicies{"none", "selective", "full"};

using Tensors = std::set<TensorIndex>;

Bytes total(const LayerType& layer, const Tensors& tensors) {
  return std::accumulate(tensors.begin(), tensors.end(), Bytes{},
                         [&](Bytes sum, TensorIndex i) { return sum + layer.tensor(i).bytes(); });
}

// The attention core and the collectives that context parallelism put around it.
bool in_core(const Operator& op) {
  const bool of_context = op.kind == OperatorKind::collective && op.collective.group == GroupAxis::context &&
                          op.collective.forward != CollectiveKind::broadcast;
  return op.kind == OperatorKind::attention || of_context;
}

RecomputeCost selective(const LayerType& layer) {
  RecomputeCost cost;
  Tensors made_inside;
  Tensors needed;  // by the core's backward pass; what is not kept is made again
  Tensors kept;
  for (std::size_t i = 0; i < layer.operators.size(); ++i) {
    const Operator& op = layer.operators[i];
    if (!in_core(op)) {
      kept.insert(op.keeps.begin(), op.keeps.end());
      continue;
    }
    cost.operators.push_back(i);
    for (const TensorIndex in : op.inputs) {
      if (!made_inside.contains(in)) kept.insert(in);
    }
    made_inside.insert(op.outputs.begin(), op.outputs.end());
    needed.insert(op.keeps.begin(), op.keeps.end());
  }
  for (const TensorIndex i : kept) needed.erase(i);
  cost.stash = total(layer, kept);
  cost.transient = total(layer, needed);
  return cost;
}

// Products are counted weight by weight: the results of the first, third, ... stay, and attention's.
RecomputeCost every_second(const LayerType& layer) {
  Tensors kept;
  Tensors all;
  for (TensorIndex i = 0; i < layer.tensors.size(); ++i) {
    if (layer.tensor(i).role == Role::input) kept.insert(i);
  }
  RecomputeCost cost;
  std::size_t products = 0;
  for (std::size_t i = 0; i < layer.operators.size(); ++i) {
    const Operator& op = layer.operators[i];
    all.insert(op.keeps.begin(), op.keeps.end());
    if (op.kind == OperatorKind::attention || op.kind == OperatorKind::grouped_matmul) {
      kept.insert(op.outputs.begin(), op.outputs.end());
      continue;
    }
    double again = 0;
    double made = 0;
    for (const TensorIndex out : op.outputs) {
      const auto bytes = static_cast<double>(layer.tensor(out).bytes().value);
      made += bytes;
      if (op.kind == OperatorKind::matmul && ++products % 2 == 1) {
        kept.insert(out);
      } else {
        again += bytes;
      }
    }
    if (again <= 0) continue;
    cost.operators.push_back(i);
    cost.shares.push_back(again / made);
  }
  for (const TensorIndex i : kept) all.erase(i);
  cost.stash = total(layer, kept);
  cost.transient = total(layer, all);
  return cost;
}

RecomputeCost full(const LayerType& layer) {
  Tensors inputs;
  for (TensorIndex i = 0; i < layer.tensors.size(); ++i) {
    if (layer.tensor(i).role == Role::input) inputs.insert(i);
  }
  Tensors again;
  for (const Operator& op : layer.operators) again.insert(op.keeps.begin(), op.keeps.end());
  for (const TensorIndex i : inputs) again.erase(i);
  RecomputeCost cost{
      total(layer, inputs), std::vector<std::size_t>(layer.operators.size()), {}, total(layer, again)};
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

RecomputeCost recompute_cost(const ShardedLayer& sharded, RecomputePolicy policy, SelectiveRecompute kind) {
  const LayerType& layer = sharded.layer;
  if (policy == RecomputePolicy::none || !can_recompute(layer)) return {layer.stash_bytes(), {}, {}, {}};
  if (policy == RecomputePolicy::full) return full(layer);
  return kind == SelectiveRecompute::operators ? every_second(layer) : selective(layer);
}

}  // namespace nest::strategies
