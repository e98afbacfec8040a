#include "nest/strategies/uneven.hpp"

#include <algorithm>
#include <cmath>

namespace nest::strategies {
namespace {

bool has(const Tensor& tensor, Axis axis) {
  return std::any_of(tensor.shape.begin(), tensor.shape.end(),
                     [axis](const Dim& d) { return d.axis == axis; });
}

bool is_padded(const ShardedLayer& s, const std::string& tensor) {
  return std::any_of(s.padded.begin(), s.padded.end(), [&](const Padding& p) { return p.tensor == tensor; });
}

double padding_of(const ShardedLayer& s, const std::string& tensor) {
  double factor = 1;
  for (const Padding& p : s.padded) {
    if (p.tensor == tensor) factor *= static_cast<double>(p.to) / static_cast<double>(p.from);
  }
  return factor;
}

bool uneven(double factor) {
  return std::abs(factor - 1) > 1e-12;
}

const char* reason_of_parameter(const ShardedLayer& s, const Operator& op, const Tensor& tensor) {
  if (is_padded(s, tensor.name)) return "padded vocabulary";
  if (has(tensor, Axis::kv_heads)) return "fewer KV heads than tensor ranks";
  if (op.kind == OperatorKind::rms_norm || op.kind == OperatorKind::layer_norm) return "norm";
  if (has(tensor, Axis::experts)) return "router";
  return "no axis to split";
}

// The reason of an operator is that of its worst parameter, but where its rows are to blame.
const char* reason_of_operator(const ShardedLayer& s, const LayerType& whole, const Operator& op) {
  if (op.kind == OperatorKind::grouped_matmul) return "expert imbalance";
  const Tensor& in = whole.tensor(op.inputs.front());
  if (has(in, Axis::tower_sequence)) return "positions of a tower";
  if (!has(in, Axis::sequence) && !has(in, Axis::source_sequence)) return "one position of the sequence";
  for (const TensorIndex p : op.parameters) {
    const Tensor& tensor = whole.tensor(p);
    if (is_padded(s, tensor.name) || has(tensor, Axis::kv_heads)) return reason_of_parameter(s, op, tensor);
  }
  return op.parameters.empty() ? "no axis to split"
                               : reason_of_parameter(s, op, whole.tensor(op.parameters.front()));
}

}  // namespace

void list_uneven(const LayerType& whole, ShardedLayer& s) {
  std::vector<const Operator*> user(whole.tensors.size(), nullptr);
  for (const Operator& op : whole.operators) {
    for (const TensorIndex p : op.parameters) user[p] = &op;
  }
  const auto devices = static_cast<double>(s.strategy.tensor * s.strategy.context);
  for (std::size_t i = 0; i < whole.operators.size(); ++i) {
    const Operator& op = whole.operators[i];
    if (op.forward_flops.value == 0) continue;
    const double factor = s.layer.operators[i].forward_flops.value * devices / op.forward_flops.value;
    if (uneven(factor)) s.replicated.push_back({op.name, false, factor, reason_of_operator(s, whole, op)});
  }
  for (ParameterFact& fact : s.parameters) {
    const Tensor& tensor = whole.tensor(fact.tensor);
    const Operator* op = user[fact.tensor];
    fact.expert = op != nullptr && op->kind == OperatorKind::grouped_matmul;
    const std::int64_t degree =
        fact.expert ? s.strategy.expert * s.strategy.expert_tensor_degree() : s.strategy.tensor;
    const double factor = static_cast<double>(degree * elements(s.layer.tensor(fact.tensor).shape)) /
                          static_cast<double>(elements(tensor.shape));
    fact.copies = std::llround(factor / padding_of(s, tensor.name));
    if (uneven(factor) && op != nullptr)
      s.replicated.push_back({tensor.name, true, factor, reason_of_parameter(s, *op, tensor)});
  }
}

}  // namespace nest::strategies
