// Looks for a contradiction in a sharded layer: operators whose local shapes do not fit together, tensors
// that are read before they are made, collectives whose sides do not differ by their group.
#pragma once

#include <algorithm>
#include <set>
#include <string>

#include "nest/strategies/sharded_layer.hpp"
#include "nest/strategies/transform.hpp"

namespace nest::strategies {

inline std::int64_t elements_of(const LayerType& layer, const std::vector<TensorIndex>& tensors) {
  std::int64_t n = 0;
  for (const TensorIndex i : tensors) n += elements(layer.tensor(i).shape);
  return n;
}

// in [rows, contract] times [contract, features] is [rows, features], each with its local sizes.
inline bool product_fits(const LayerType& layer, const Operator& op) {
  const std::size_t stacked = op.kind == OperatorKind::grouped_matmul ? 1 : 0;
  const Shape& in = layer.tensor(op.inputs[0]).shape;
  std::size_t next = 0;
  for (const TensorIndex p : op.parameters) {
    if (layer.tensor(p).name.ends_with(".bias")) continue;
    if (next == op.outputs.size()) break;  // what the operator only holds comes after its weights
    const Shape weight(layer.tensor(p).shape.begin() + static_cast<std::ptrdiff_t>(stacked),
                       layer.tensor(p).shape.end());
    const Shape& out = layer.tensor(op.outputs[next++]).shape;
    const std::size_t contract = (in.size() + weight.size() - out.size()) / 2;
    const std::size_t rows = in.size() - contract;
    if (!std::equal(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(rows), out.begin())) return false;
    if (!std::equal(in.begin() + static_cast<std::ptrdiff_t>(rows), in.end(), weight.begin())) return false;
    if (!std::equal(out.begin() + static_cast<std::ptrdiff_t>(rows), out.end(),
                    weight.begin() + static_cast<std::ptrdiff_t>(contract)))
      return false;
  }
  return next == op.outputs.size();
}

inline bool attention_fits(const LayerType& layer, const Operator& op) {
  const Shape& q = layer.tensor(op.inputs[0]).shape;
  const Shape& k = layer.tensor(op.inputs[1]).shape;
  const Shape& v = layer.tensor(op.inputs[2]).shape;
  const Shape& out = layer.tensor(op.outputs[0]).shape;
  return q[2].size % k[2].size == 0 && k[1] == v[1] && k[2].size == v[2].size && q[1] == out[1] &&
         q[2] == out[2] && q[3] == k[3] && v[3] == out[3];
}

inline bool collective_fits(const ShardedLayer& s, const Operator& op) {
  const CollectiveCall& c = op.collective;
  const std::int64_t in = elements_of(s.layer, op.inputs);
  const std::int64_t out = elements_of(s.layer, op.outputs);
  const std::int64_t group = group_size(s.strategy, c);
  const auto fits = [&](CollectiveKind kind, std::int64_t from, std::int64_t to) {
    switch (kind) {
      case CollectiveKind::all_gather:
        return to == from * group;
      case CollectiveKind::reduce_scatter:
        return from == to * group;
      case CollectiveKind::all_to_all:  // the larger side may hold repeated KV heads
        return model::of_context(c.group) ? out >= in : to == from;
      case CollectiveKind::all_reduce:
        return op.name.find("loss.") != std::string::npos || from == to;
      default:
        return true;
    }
  };
  const bool regather = c.forward == CollectiveKind::none && c.backward == CollectiveKind::all_gather;
  return group > 1 && fits(c.forward, in, out) && (regather ? out == in * group : fits(c.backward, out, in));
}

inline bool fits(const ShardedLayer& s, const Operator& op) {
  const LayerType& layer = s.layer;
  switch (op.kind) {
    case OperatorKind::matmul:
    case OperatorKind::grouped_matmul:
      return product_fits(layer, op);
    case OperatorKind::attention:
      return attention_fits(layer, op);
    case OperatorKind::collective:
      return collective_fits(s, op);
    case OperatorKind::combine:
      return layer.tensor(op.inputs[0]).shape[0].size == elements(layer.tensor(op.inputs[1]).shape);
    case OperatorKind::loss:
      return layer.tensor(op.inputs[0]).shape == layer.tensor(op.outputs[0]).shape;
    case OperatorKind::add:
    case OperatorKind::rms_norm:
    case OperatorKind::layer_norm:
    case OperatorKind::swiglu:
    case OperatorKind::geglu:
    case OperatorKind::gelu:
    case OperatorKind::relu:
    case OperatorKind::tanh:
      if (op.name == "class_token") return true;  // one row more
      return std::all_of(op.inputs.begin(), op.inputs.end(), [&](TensorIndex i) {
        return layer.tensor(i).shape == layer.tensor(op.outputs[0]).shape;
      });
    default:
      return true;
  }
}

// Empty where there is none.
inline std::string contradiction(const ShardedLayer& s) {
  std::set<TensorIndex> made;
  for (TensorIndex i = 0; i < s.layer.tensors.size(); ++i) {
    if (s.layer.tensor(i).role == Role::input) made.insert(i);
  }
  for (const Operator& op : s.layer.operators) {
    for (const TensorIndex i : op.inputs) {
      if (!made.contains(i)) return op.name + " reads " + s.layer.tensor(i).name + " before it is made";
    }
    for (const TensorIndex i : made_by(op)) made.insert(i);
    if (!fits(s, op)) return op.name + " does not fit its tensors";
  }
  for (const TensorIndex i : s.layer.outputs) {
    if (!made.contains(i)) return s.layer.tensor(i).name + " is never made";
  }
  return "";
}

}  // namespace nest::strategies
