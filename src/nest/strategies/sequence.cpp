#include "nest/strategies/sequence.hpp"

#include <algorithm>
#include <utility>

#include "nest/strategies/refusals.hpp"
#include "nest/strategies/tensor.hpp"

namespace nest::strategies {
namespace {

bool contains(const std::vector<TensorIndex>& list, TensorIndex i) {
  return std::find(list.begin(), list.end(), i) != list.end();
}

// Whether an operator that reads `gathered` keeps the share it was gathered from.
bool needed_again(const std::vector<Operator>& operators, TensorIndex share, TensorIndex gathered) {
  return std::any_of(operators.begin(), operators.end(), [&](const Operator& op) {
    return contains(op.inputs, gathered) && contains(op.keeps, share);
  });
}

// What a tower made, whole on every rank, goes among rows that are split: each rank has the gradients of its own rows.
void enter_towers(LayerTransform& t, Operator& op) {
  if (op.outputs.empty() || t.inside(op.outputs[0]) || !t.has_sequence(op.outputs[0])) return;
  for (TensorIndex& in : op.inputs) {
    if (t.has(in, Axis::tower_sequence) && !t.inside(in))
      in = t.push_enter(in, t.tensor(in).name + ".enter",
                        {CollectiveKind::none, CollectiveKind::all_reduce, GroupAxis::tensor});
  }
}

void apply(LayerTransform& t) {
  for (TensorIndex i = 0; i < t.tensors(); ++i) {
    if (t.is_activation(i) && !t.inside(i)) t.split_sequence(i, t.strategy().tensor);
  }
  const std::vector<Operator> before = t.take_operators();
  for (Operator op : before) {
    const bool tensor_collective =
        op.kind == OperatorKind::collective && op.collective.group == GroupAxis::tensor;
    if (tensor_collective && t.inside(op.inputs[0]) != t.inside(op.outputs[0]) &&
        t.has_sequence(op.inputs[0])) {
      const bool opens = t.inside(op.outputs[0]);
      op.collective.forward = opens ? CollectiveKind::all_gather : CollectiveKind::reduce_scatter;
      op.collective.backward = opens ? CollectiveKind::reduce_scatter : CollectiveKind::all_gather;
      const bool again = opens && needed_again(before, op.inputs[0], op.outputs[0]);
      const Operator gather = op;
      t.push(std::move(op));
      if (again) {
        t.push_collective(gather.name + ".regather",
                          {CollectiveKind::none, CollectiveKind::all_gather, GroupAxis::tensor},
                          gather.inputs, {t.copy(gather.outputs[0], ".again")});
      }
      continue;
    }
    const bool rows =
        !op.outputs.empty() && (t.has_sequence(op.outputs[0]) || t.has(op.outputs[0], Axis::routed));
    if (rows && op.kind != OperatorKind::grouped_matmul) {
      for (const TensorIndex p : op.parameters) {
        if (!t.is_split(p)) t.set_partial_gradient(p);  // each rank sees its rows only
      }
    }
    enter_towers(t, op);
    if (op.kind == OperatorKind::select && makes_one_position(t, op)) {
      t.push_reduced(std::move(op), "spread_rows",
                     {CollectiveKind::broadcast, CollectiveKind::none, GroupAxis::tensor});
    } else {
      t.push(std::move(op));
    }
  }
}

std::optional<Refusal> check(const LayerType& layer, const Strategy& s) {
  for (const Operator& op : layer.operators) {
    // Inside a tensor-parallel region a rank has whole sequences of its own channels.
    const auto split = [](const Dim& d) { return is_tensor_axis(d.axis); };
    if (op.kind == OperatorKind::scan && runs_along_sequence(layer, op) &&
        std::ranges::none_of(layer.tensor(op.outputs.front()).shape, split)) {
      return Refusal{"sequence_parallel_scan", "sequence parallelism does not split the scan " + op.name +
                                                   " of " + layer.name +
                                                   ", whose state goes from one position to the next"};
    }
    std::vector<TensorIndex> tensors = op.outputs;
    // Token ids stay whole on every rank.
    if (op.kind != OperatorKind::embedding) tensors.insert(tensors.end(), op.inputs.begin(), op.inputs.end());
    for (const TensorIndex i : tensors) {
      for (const Dim& d : layer.tensor(i).shape) {
        const bool sequence = d.axis == Axis::sequence || d.axis == Axis::source_sequence;
        if (sequence && d.size % (s.tensor * s.context) != 0) {
          return indivisible("sequence_parallel_length",
                             {"sequence parallelism over", s.tensor * s.context, d.size, "positions"},
                             layer.tensor(i), layer);
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace

bool divides_positions(const Model& model, const Strategy& strategy) {
  return std::none_of(model.types.begin(), model.types.end(),
                      [&](const LayerType& type) { return check(type, strategy).has_value(); });
}

SubgraphStrategy sequence_strategy() {
  return {"sequence", "rows outside of tensor-parallel regions over the tensor ranks",
          [](const Strategy& s) { return s.shards_sequence(); }, check, apply};
}

}  // namespace nest::strategies
