#include "nest/strategies/context.hpp"

#include <utility>

#include "nest/strategies/refusals.hpp"

namespace nest::strategies {
namespace {

// Hybrid's groups are parts of the context ranks.
GroupAxis axis_of(const Strategy& s, GroupAxis part) {
  return s.hybrid() ? part : GroupAxis::context;
}

// Attention on its ranks of a ring, where there are several: keys and values of its heads go round.
void push_turning(LayerTransform& t, Operator op) {
  const std::int64_t ranks = t.strategy().ring_ranks();
  if (ranks > 1) {
    CollectiveCall ring{CollectiveKind::send, CollectiveKind::send,
                        axis_of(t.strategy(), GroupAxis::context_outer)};
    ring.repeats = ranks - 1;
    const bool dealt_whole = op.attention.packed && !t.options().split_documents;
    if (dealt_whole && t.options().ring_skips)
      ring.share = op.attention.packed->travelling(ranks, op.attention.causal);
    t.push_collective(op.name + ".ring", ring, {op.inputs[1], op.inputs[2]}, {});
    if (dealt_whole)
      op.attention.slowest = op.attention.packed->slowest(ranks, op.attention.causal, op.attention.window);
  }
  t.push(std::move(op));
}

// From a share of the sequence with all heads to so many times that share with a part of the heads.
void trade(LayerTransform& t, TensorIndex i) {
  const std::int64_t ranks = t.strategy().trading_ranks();
  t.unsplit(i, Axis::sequence, ranks);
  t.unsplit(i, Axis::source_sequence, ranks);
  t.split(i, Axis::heads, ranks);
  t.split(i, Axis::kv_heads, ranks);
}

void push_core(LayerTransform& t, Operator op) {
  if (t.strategy().trading_ranks() == 1) return push_turning(t, std::move(op));
  const CollectiveCall exchange{CollectiveKind::all_to_all, CollectiveKind::all_to_all,
                                axis_of(t.strategy(), GroupAxis::context_inner)};
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
  push_turning(t, std::move(op));
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
      push_core(t, std::move(op));
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
  const std::int64_t ranks = s.trading_ranks();
  const std::string who = (s.hybrid() ? "hybrid context with all-to-all groups of " : "all-to-all context ") +
                          std::to_string(ranks);
  const std::int64_t local = heads / s.tensor;
  if (local % ranks != 0) {
    return Refusal{"context_heads", who + " does not divide the " + count_of(local, "attention head") +
                                        " that a tensor rank of " + layer.name + " holds"};
  }
  const std::int64_t local_kv = std::max<std::int64_t>(1, kv_heads / s.tensor);
  if (local_kv % ranks != 0 && ranks % local_kv != 0) {
    return Refusal{"context_kv_heads", who + " and the " + count_of(local_kv, "KV head") +
                                           " that a tensor rank of " + layer.name +
                                           " holds do not divide each other"};
  }
  return std::nullopt;
}

std::optional<Refusal> check(const LayerType& layer, const Strategy& s) {
  const bool ring = s.ring_ranks() > 1;
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
    if (s.trading_ranks() > 1) {
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
  return {"context", "the sequence over c devices, attention by ring, all-to-all or both",
          [](const Strategy& s) { return s.context > 1; }, check, apply};
}

}  // namespace nest::strategies
