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
  for (const Tensor& t : tensors) n += keep(t) ? elements(t.shape) : 0;
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

Bytes LayerType::output_bytes() const {
  return sum(*this, outputs);
}

Bytes LayerType::stash_bytes() const {
  std::vector<TensorIndex> kept;
  for (const Operator& op : operators) kept.insert(kept.end(), op.keeps.begin(), op.keeps.end());
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return sum(*this, kept);
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
