#include "nest/model/graph/layer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nest::model {
namespace {

// A routed expert's weight is stacked over experts; a router's has experts last, its bias only experts.
bool is_expert(const Tensor& t) {
  return t.role == Role::parameter && !t.shape.empty() && t.shape.front().axis == Axis::experts &&
         t.shape.size() > 1;
}

template <class Keep>
std::int64_t count(const std::vector<Tensor>& tensors, Keep keep) {
  std::int64_t n = 0;
  for (const Tensor& t : tensors) n = plus(n, keep(t) ? elements(t.shape) : 0);
  return n;
}

Bytes sum(const LayerType& layer, const std::vector<TensorIndex>& indices) {
  return std::accumulate(indices.begin(), indices.end(), Bytes{},
                         [&](Bytes b, TensorIndex i) { return b + layer.tensor(i).bytes(); });
}

}  // namespace

std::int64_t LayerType::parameters() const {
  return count(tensors, [](const Tensor& t) { return t.role == Role::parameter && !t.apart; });
}

std::int64_t LayerType::apart_parameters() const {
  return count(tensors, [](const Tensor& t) { return t.role == Role::parameter && t.apart; });
}

std::int64_t LayerType::shared_parameters() const {
  return count(tensors, [](const Tensor& t) { return t.role == Role::shared; });
}

std::int64_t LayerType::trained_parameters() const {
  return count(tensors, [](const Tensor& t) { return t.role == Role::parameter && !t.frozen; });
}

std::int64_t LayerType::expert_parameters() const {
  return count(tensors, [](const Tensor& t) { return is_expert(t) && !t.apart; });
}

std::int64_t LayerType::active_parameters() const {
  const std::int64_t experts = expert_parameters();
  return parameters() - experts + std::llround(static_cast<double>(experts) * active_expert_share);
}

Flops LayerType::forward_flops() const {
  Flops total;
  for (const Operator& op : operators) total += op.forward_flops;
  return total;
}

Flops LayerType::saved_flops() const {
  Flops saved;
  for (const Operator& op : operators) {
    const bool product = op.kind == OperatorKind::matmul || op.kind == OperatorKind::grouped_matmul;
    const bool passes = passes_gradients(op);
    const bool second = product ? trains(op) : passes;
    saved += op.forward_flops * static_cast<double>((passes ? 0 : 1) + (second ? 0 : 1));
  }
  return saved;
}

bool LayerType::has_backward() const {
  return std::ranges::any_of(operators,
                             [&](const Operator& op) { return passes_gradients(op) || trains(op); });
}

bool LayerType::passes_gradients(const Operator& op) const {
  return op.inputs.empty() ||
         std::ranges::any_of(op.inputs, [&](TensorIndex i) { return !tensor(i).frozen; });
}

bool LayerType::trains(const Operator& op) const {
  return std::ranges::any_of(op.parameters, [&](TensorIndex i) { return !tensor(i).frozen; });
}

Bytes LayerType::output_bytes() const {
  return sum(*this, outputs);
}

bool LayerType::low_product(const Operator& op) const {
  if (op.kind != OperatorKind::matmul && op.kind != OperatorKind::grouped_matmul) return false;
  const auto last = [&](TensorIndex i) {
    const Shape& shape = tensor(i).shape;
    return shape.empty() ? Axis::other : shape.back().axis;
  };
  const Axis made = last(op.outputs.front());
  const Axis read = last(op.inputs.front());
  if (made == Axis::rank || read == Axis::rank) return false;
  return made != Axis::experts && made != Axis::other && made != Axis::vocab && made != Axis::classes &&
         read != Axis::patch;
}

Bytes LayerType::stash_bytes(double low_bytes) const {
  KeptTensors kept;
  for (const Operator& op : operators) kept.add(*this, op);
  return kept.bytes(*this, low_bytes);
}

void KeptTensors::add(const LayerType& layer, const Operator& op) {
  const bool low = layer.low_product(op);
  for (const TensorIndex i : op.keeps) (low ? operands_ : whole_).insert(i);
}

Bytes KeptTensors::bytes(const LayerType& layer, double low_bytes) const {
  Bytes sum;
  for (const TensorIndex i : whole_) sum += layer.tensor(i).bytes();
  for (const TensorIndex i : operands_) {
    const Tensor& t = layer.tensor(i);
    if (low_bytes > 0 && t.dtype == DType::bf16)
      sum += round_up_bytes(low_bytes * static_cast<double>(elements(t.shape)));
    else if (!whole_.contains(i))
      sum += t.bytes();
  }
  return sum;
}

Bytes LayerType::bytes_read(const Operator& op) const {
  Bytes total = sum(*this, op.inputs);
  const bool rows_only = op.kind == OperatorKind::embedding || op.kind == OperatorKind::position;
  return total + (rows_only ? op.parameter_bytes_read : sum(*this, op.parameters));
}

Bytes LayerType::bytes_written(const Operator& op) const {
  return sum(*this, op.outputs);
}

std::int64_t LayerType::parameters(const Operator& op) const {
  std::int64_t n = 0;
  for (const TensorIndex i : op.parameters)
    n += tensors[i].role == Role::parameter ? elements(tensors[i].shape) : 0;
  return n;
}

}  // namespace nest::model
