#include "nest/strategies/recompute.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

namespace nest::strategies {
namespace {

constexpr std::array<std::string_view, 4> kPolicies{"none", "selective", "full", "modules"};

// The attention core and the collectives that context parallelism put around it.
bool in_core(const Operator& op) {
  const bool of_context = op.kind == OperatorKind::collective && model::of_context(op.collective.group) &&
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

bool is_norm(const Operator& op) {
  const bool kind = op.kind == OperatorKind::rms_norm || op.kind == OperatorKind::layer_norm;
  return kind && op.name.ends_with("_norm") && op.name != "q_norm" && op.name != "k_norm" &&
         op.name != "kv_norm";
}

// The module of an operator, if any.
bool belongs(const Operator& op, RecomputeModule module) {
  const auto named = [&](std::string_view start) { return op.name.starts_with(start); };
  switch (module) {
    case RecomputeModule::core_attn:
      return in_core(op);
    case RecomputeModule::mla_up_proj:
      return op.name == "q_up" || op.name == "kv_up" || op.name == "rotary";
    case RecomputeModule::layernorm:
      return is_norm(op);
    case RecomputeModule::moe_act:
      return op.name == "experts.activation";
    case RecomputeModule::mlp:
      return op.name == "gate_up" || op.name == "up" || op.name == "activation" || op.name == "down";
    case RecomputeModule::moe:
      return named("router") || named("top_k") || named("dispatch") || named("experts.") || named("combine");
    case RecomputeModule::shared_experts:
      return named("shared.");
  }
  return false;
}

// Whether the results of a module are given up too, and made again before they are needed; the results of others
// stay where somebody keeps them.
constexpr bool discards(RecomputeModule module) {
  return module == RecomputeModule::mla_up_proj || module == RecomputeModule::layernorm ||
         module == RecomputeModule::moe_act;
}

RecomputeCost selective(const LayerType& layer, RecomputeModules modules, double low_bytes) {
  const bool latent = std::any_of(layer.operators.begin(), layer.operators.end(),
                                  [](const Operator& op) { return op.name == "kv_up"; });
  const auto module_of = [&](const Operator& op) -> std::optional<RecomputeModule> {
    for (std::size_t i = 0; i < kRecomputeModules.size(); ++i) {
      const auto module = static_cast<RecomputeModule>(i);
      if (module == RecomputeModule::mla_up_proj && !latent) continue;
      if (modules.has(module) && belongs(op, module)) return module;
    }
    return std::nullopt;
  };
  RecomputeCost cost;
  std::set<TensorIndex> made_inside;
  std::set<TensorIndex> given_up;
  KeptTensors needed;  // by the modules' backward passes; what is not kept is made again
  KeptTensors kept;
  for (std::size_t i = 0; i < layer.operators.size(); ++i) {
    const Operator& op = layer.operators[i];
    const auto module = module_of(op);
    if (!module) {
      kept.add(layer, op);
      continue;
    }
    cost.operators.push_back(i);
    for (const TensorIndex in : op.inputs) {
      if (!made_inside.contains(in)) kept.add(in);
    }
    made_inside.insert(op.outputs.begin(), op.outputs.end());
    if (discards(*module)) given_up.insert(op.outputs.begin(), op.outputs.end());
    needed.add(layer, op);
  }
  for (const TensorIndex i : given_up) {
    if (kept.contains(i)) needed.add(i);
    kept.erase(i);
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

// Operators whose results are kept, or lead to something that is.
std::vector<std::size_t> leading_to(const LayerType& layer, const KeptTensors& kept) {
  std::set<TensorIndex> needed(kept.whole().begin(), kept.whole().end());
  needed.insert(kept.operands().begin(), kept.operands().end());
  std::vector<std::size_t> operators;
  for (std::size_t i = layer.operators.size(); i-- > 0;) {
    const Operator& op = layer.operators[i];
    if (std::none_of(op.outputs.begin(), op.outputs.end(), [&](TensorIndex t) { return needed.contains(t); }))
      continue;
    operators.push_back(i);
    needed.insert(op.inputs.begin(), op.inputs.end());
  }
  std::reverse(operators.begin(), operators.end());
  return operators;
}

RecomputeCost full(const LayerType& layer, double low_bytes, bool early_stop) {
  const KeptTensors inputs = inputs_of(layer);
  KeptTensors again;
  for (const Operator& op : layer.operators) again.add(layer, op);
  std::vector<std::size_t> operators;
  if (early_stop) {
    operators = leading_to(layer, again);
  } else {
    operators.resize(layer.operators.size());
    std::iota(operators.begin(), operators.end(), std::size_t{0});
  }
  return {inputs.bytes(layer, low_bytes),
          std::move(operators),
          {},
          made_again(layer, std::move(again), inputs, low_bytes)};
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

std::string spell(const Recompute& r) {
  std::string text(name_of(r.policy));
  if (!r.modules.empty()) text += " " + spell(r.modules, ", ");
  if (r.layers == 0) return text;
  return text + " on " + std::to_string(r.layers) + (r.layers == 1 ? " layer" : " layers");
}

bool can_recompute(const LayerType& layer) {
  return layer.part != LayerPart::end;
}

RecomputeCost recompute_cost(const ShardedLayer& sharded, const LayerPolicy& chosen, const Selective& choice,
                             Precision precision) {
  const RecomputePolicy policy = chosen.policy;
  const LayerType& layer = sharded.layer;
  const double low = is_low(precision) ? facts_of(precision).operand_bytes : 0;
  // Nothing is kept for a backward pass that does not run.
  if (!layer.has_backward()) return {};
  if (policy == RecomputePolicy::none || !can_recompute(layer)) return {layer.stash_bytes(low), {}, {}, {}};
  if (policy == RecomputePolicy::full) return full(layer, low, choice.early_stop);
  if (policy == RecomputePolicy::modules) {
    RecomputeCost cost = selective(layer, chosen.modules, low);
    if (!cost.operators.empty()) cost.stash = std::max(cost.stash, inputs_of(layer).bytes(layer, low));
    return cost;
  }
  if (choice.kind == SelectiveRecompute::operators) return every_second(layer, low);
  return selective(layer, choice.repeated(), low);
}

}  // namespace nest::strategies
