#include "nest/strategies/context.hpp"

#include <utility>

#include "nest/strategies/refusals.hpp"

namespace nest::strategies {
namespace {

void push_ring(LayerTransform& t, Operator op) {
  CollectiveCall ring{CollectiveKind::send, CollectiveKind::send, GroupAxis::context};
  ring.repeats = t.strategy().context - 1;
  t.push_collective(op.name + ".ring", ring, {op.inputs[1], op.inputs[2]}, {});
  if (op.attention.packed && op.attention.causal && !t.options().split_documents)
    op.attention.slowest = op.attention.packed->slowest(t.strategy().context);
  t.push(std::move(op));
}

// From a share of the sequence with all heads to the whole sequence with a share of the heads.
void trade(LayerTransform& t, TensorIndex i) {
  const std::int64_t c = t.strategy().context;
  t.unsplit(i, Axis::sequence, c);
  t.unsplit(i, Axis::source_sequence, c);
  t.split(i, Axis::heads, c);
  t.split(i, Axis::kv_heads, c);
}

void push_traded(LayerTransform& t, Operator op) {
  const CollectiveCall exchange{CollectiveKind::all_to_all, CollectiveKind::all_to_all, GroupAxis::context};
  const std::vector<TensorIndex> from = op.inputs;
  for (TensorIndex& i : op.inputs) {
    const TensorIndex whole = t.copy(i, ".by_heads");
    trade(t, whole);
    replace(op.keeps, i, whole);
    i = whole;
  }
  t.push_collective(op.name + ".scatter_heads", exchange, from, op.inputs);
  const TensorIndex result = op.outputs.front();
  const TensorIndex made = t.copy(result, ".by_heads");
  replace(op.outputs, result, made);
  replace(op.keeps, result, made);
  for (const TensorIndex i : made_by(op)) trade(t, i);
  const std::string name = op.name;
  t.push(std::move(op));
  t.push_collective(name + ".gather_heads", exchange, {made}, {result});
}

void apply(LayerTransform& t) {
  for (TensorIndex i = 0; i < t.tensors(); ++i) {
    if (t.is_activation(i)) t.split_sequence(i, t.strategy().context);
  }
  for (Operator& op : t.take_operators()) {
    // Keys of a tower are whole on every rank.
    const bool whole_keys = op.kind == OperatorKind::attention && !t.has_sequence(op.inputs[1]);
    if (op.kind == OperatorKind::attention && !whole_keys) {
      if (t.strategy().context_method == ContextMethod::ring)
        push_ring(t, std::move(op));
      else
        push_traded(t, std::move(op));
    } else if (op.kind == OperatorKind::select && makes_one_position(t, op)) {
      // The position lies on one device; the operators after it run on all.
      t.push_reduced(std::move(op), "spread",
                     {CollectiveKind::broadcast, CollectiveKind::none, GroupAxis::context});
    } else {
      t.push(std::move(op));
    }
  }
}

std::optional<Refusal> check_heads(const LayerType& layer, const Strategy& s, std::int64_t heads,
                                   std::int64_t kv_heads) {
  const std::int64_t local = heads / s.tensor;
  if (local % s.context != 0) {
    return Refusal{"context_heads", "all-to-all context " + std::to_string(s.context) +
                                        " does not divide the " + count_of(local, "attention head") +
                                        " that a tensor rank of " + layer.name + " holds"};
  }
  const std::int64_t local_kv = std::max<std::int64_t>(1, kv_heads / s.tensor);
  if (local_kv % s.context != 0 && s.context % local_kv != 0) {
    return Refusal{"context_kv_heads", "all-to-all context " + std::to_string(s.context) + " and the " +
                                           count_of(local_kv, "KV head") + " that a tensor rank of " +
                                           layer.name + " holds do not divide each other"};
  }
  return std::nullopt;
}

std::optional<Refusal> check(const LayerType& layer, const Strategy& s) {
  const bool ring = s.context_method == ContextMethod::ring;
  for (const Tensor& tensor : layer.tensors) {
    for (const Dim& d : tensor.shape) {
      if ((d.axis == Axis::sequence || d.axis == Axis::source_sequence) && d.size % s.context != 0)
        return indivisible("context_sequence", {"context", s.context, d.size, "positions"}, tensor, layer);
    }
  }
  std::optional<Refusal> rule_of_frameworks;
  for (const Operator& op : layer.operators) {
    if (op.kind == OperatorKind::scan && runs_along_sequence(layer, op)) {
      return Refusal{"context_scan", "context parallelism does not split the scan " + op.name + " of " +
                                         layer.name + ": its state goes from one position to the next"};
    }
    if (op.kind != OperatorKind::attention) continue;
    const Shape& q = layer.tensor(op.inputs[0]).shape;
    const Shape& k = layer.tensor(op.inputs[1]).shape;
    if (k[1].axis == Axis::tower_sequence) continue;
    if (!ring) {
      auto refusal = check_heads(layer, s, q[2].size, k[2].size);
      if (refusal) return refusal;
    }
    if (q[1].size % (2 * s.context) != 0) {
      Refusal r{"context_balance", "a sequence of " + std::to_string(q[1].size) +
                                       " does not split into 2 * " + std::to_string(s.context) +
                                       " chunks for context " + std::to_string(s.context)};
      // Only a causal ring needs the pairs of chunks; Megatron asks for them always.
      if (ring && op.attention.causal) return r;
      r.framework = true;
      rule_of_frameworks = r;
    }
  }
  return rule_of_frameworks;
}

}  // namespace

SubgraphStrategy context_strategy() {
  return {"context", "the sequence over c devices, attention by ring or all-to-all",
          [](const Strategy& s) { return s.context > 1; }, check, apply};
}

}  // namespace nest::strategies
