#include "nest/strategies/transform.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nest/strategies/uneven.hpp"

namespace nest::strategies {
namespace {

Bytes total(const LayerType& layer, const std::vector<TensorIndex>& indices) {
  Bytes sum;
  for (const TensorIndex i : indices) sum += layer.tensor(i).bytes();
  return sum;
}

// An all-reduce is as large as its result. Of the others, the larger side is the whole tensor over the group;
// an all-to-all that repeats KV heads is as large as what arrives.
Bytes bytes_of(const LayerType& layer, const Operator& op) {
  const CollectiveCall& c = op.collective;
  const bool sums = c.forward == CollectiveKind::all_reduce || c.backward == CollectiveKind::all_reduce;
  const Bytes out = total(layer, op.outputs);
  return sums ? out : std::max(total(layer, op.inputs), out);
}

bool reads_rows_of_tables(const Operator& op) {
  return op.kind == OperatorKind::embedding || op.kind == OperatorKind::position;
}

// Rows of tables that one device reads: with its tokens, and of a split table only those that it holds.
Bytes rows_read(const LayerType& whole, const LayerType& local, const Operator& op, Bytes before) {
  const TensorIndex out = op.outputs.front();
  double share = static_cast<double>(elements(local.tensor(out).shape)) /
                 static_cast<double>(elements(whole.tensor(out).shape));
  if (op.kind == OperatorKind::embedding) {
    const TensorIndex table = op.parameters.front();
    share *= static_cast<double>(local.tensor(table).shape.front().size) /
             static_cast<double>(whole.tensor(table).shape.front().size);
  }
  return round_up_bytes(static_cast<double>(before.value) * std::min(share, 1.0));
}

}  // namespace

std::vector<TensorIndex> made_by(const Operator& op) {
  std::vector<TensorIndex> made = op.outputs;
  for (const TensorIndex i : op.keeps) {
    const bool input = std::find(op.inputs.begin(), op.inputs.end(), i) != op.inputs.end();
    if (!input && std::find(made.begin(), made.end(), i) == made.end()) made.push_back(i);
  }
  return made;
}

void replace(std::vector<TensorIndex>& uses, TensorIndex from, TensorIndex to) {
  std::replace(uses.begin(), uses.end(), from, to);
}

bool makes_one_position(const LayerTransform& t, const Operator& op) {
  return t.has_sequence(op.inputs.front()) && !t.has_sequence(op.outputs.front());
}

bool runs_along_sequence(const LayerType& layer, const Operator& op) {
  const Shape& made = layer.tensor(op.outputs.front()).shape;
  return std::ranges::none_of(made, [](const Dim& d) { return d.axis == Axis::tower_sequence; });
}

// A product's weight is [contract, features] where its input is [rows, contract] and its output [rows,
// features]: the number of contracted axes follows from the three. Stacked experts come first and do not add
// work.
double work_of(const LayerType& layer, const Operator& op) {
  if (op.kind == OperatorKind::attention)
    return static_cast<double>(elements(layer.tensor(op.inputs.front()).shape));
  if (op.kind == OperatorKind::scan)
    return static_cast<double>(elements(layer.tensor(op.outputs.front()).shape));
  const bool grouped = op.kind == OperatorKind::grouped_matmul;
  if (op.kind != OperatorKind::matmul && !grouped) return 1;
  const Shape& in = layer.tensor(op.inputs.front()).shape;
  const std::size_t stacked = grouped ? 1 : 0;
  const std::size_t first_weight = layer.tensor(op.parameters.front()).shape.size() - stacked;
  const std::size_t first_out = layer.tensor(op.outputs.front()).shape.size();
  const std::size_t contracted = (in.size() + first_weight - first_out) / 2;
  const std::size_t row_axes = in.size() - contracted;
  const Shape rows(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(row_axes));
  double weights = 0;
  std::size_t product = 0;
  for (const TensorIndex p : op.parameters) {
    const Shape& weight = layer.tensor(p).shape;
    if (product == op.outputs.size()) break;  // a bias of the last product
    const std::size_t features = layer.tensor(op.outputs[product]).shape.size() - row_axes;
    if (weight.size() != stacked + contracted + features) continue;  // a bias
    weights += static_cast<double>(elements(weight)) /
               static_cast<double>(grouped ? weight.front().size : std::int64_t{1});
    ++product;
  }
  return static_cast<double>(elements(rows)) * weights;
}

std::int64_t LayerTransform::Split::local() const {
  const double exact = static_cast<double>(size) * stretch / static_cast<double>(divisor);
  // A hair below, so that a load of 1.1 * 1000 rows is not rounded up to 1101.
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(exact * (1 - 1e-12))));
}

LayerTransform::LayerTransform(LayerType whole, Strategy strategy, ShardOptions options)
    : layer_(std::move(whole)), strategy_(strategy), options_(options) {
  facts_.resize(layer_.tensors.size());
  for (TensorIndex i = 0; i < layer_.tensors.size(); ++i) {
    for (const Dim& d : layer_.tensors[i].shape) facts_[i].splits.push_back({d.size});
    counts_tokens_ = counts_tokens_ || has_sequence(i);
  }
}

bool LayerTransform::has(TensorIndex i, Axis axis) const {
  const Shape& shape = layer_.tensors[i].shape;
  return std::any_of(shape.begin(), shape.end(), [axis](const Dim& d) { return d.axis == axis; });
}

bool LayerTransform::has_sequence(TensorIndex i) const {
  return has(i, Axis::sequence) || has(i, Axis::source_sequence);
}

bool LayerTransform::is_activation(TensorIndex i) const {
  return layer_.tensors[i].role == Role::input || layer_.tensors[i].role == Role::activation;
}

void LayerTransform::split(TensorIndex i, Axis axis, std::int64_t degree) {
  const Shape& shape = layer_.tensors[i].shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d].axis == axis) facts_[i].splits[d].divisor *= degree;
  }
}

void LayerTransform::unsplit(TensorIndex i, Axis axis, std::int64_t degree) {
  const Shape& shape = layer_.tensors[i].shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d].axis == axis) facts_[i].splits[d].divisor /= degree;
  }
}

void LayerTransform::split_sequence(TensorIndex i, std::int64_t degree) {
  split(i, Axis::sequence, degree);
  split(i, Axis::source_sequence, degree);
  if (counts_tokens_) split(i, Axis::routed, degree);
}

bool LayerTransform::is_split(TensorIndex i, Axis axis) const {
  const Shape& shape = layer_.tensors[i].shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d].axis == axis && facts_[i].splits[d].divisor > 1) return true;
  }
  return false;
}

bool LayerTransform::is_split(TensorIndex i) const {
  const std::vector<Split>& splits = facts_[i].splits;
  return std::any_of(splits.begin(), splits.end(), [](const Split& s) { return s.divisor > 1; });
}

void LayerTransform::pad(TensorIndex i, Axis axis, std::int64_t size) {
  const Shape& shape = layer_.tensors[i].shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d].axis == axis) facts_[i].splits[d].size = size;
  }
}

void LayerTransform::stretch(TensorIndex i, Axis axis, double factor) {
  const Shape& shape = layer_.tensors[i].shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d].axis == axis) facts_[i].splits[d].stretch = factor;
  }
}

std::vector<Operator> LayerTransform::take_operators() {
  return std::exchange(layer_.operators, {});
}

TensorIndex LayerTransform::copy(TensorIndex i, const std::string& suffix) {
  Tensor tensor = layer_.tensors[i];
  tensor.name += suffix;
  tensor.role = Role::activation;
  layer_.tensors.push_back(std::move(tensor));
  Facts facts = facts_[i];
  facts_.push_back(std::move(facts));
  return layer_.tensors.size() - 1;
}

void LayerTransform::push_collective(const std::string& name, CollectiveCall shape,
                                     std::vector<TensorIndex> inputs, std::vector<TensorIndex> outputs) {
  Operator op{name, OperatorKind::collective, std::move(inputs)};
  op.outputs = std::move(outputs);
  op.collective = shape;
  push(std::move(op));
}

void LayerTransform::push_reduced(Operator op, const std::string& suffix, CollectiveCall shape) {
  const std::vector<TensorIndex> whole = op.outputs;
  for (TensorIndex& out : op.outputs) out = copy(out, ".partial");
  const std::vector<TensorIndex> partial = op.outputs;
  const std::string name = op.name + "." + suffix;
  push(std::move(op));
  push_collective(name, shape, partial, whole);
}

TensorIndex LayerTransform::push_enter(TensorIndex outside, const std::string& name, CollectiveCall shape) {
  const TensorIndex made = copy(outside, ".entered");
  push_collective(name, shape, {outside}, {made});
  return made;
}

Shape LayerTransform::local_shape(TensorIndex i) const {
  Shape shape = layer_.tensors[i].shape;
  for (std::size_t d = 0; d < shape.size(); ++d) shape[d].size = facts_[i].splits[d].local();
  return shape;
}

ShardedLayer LayerTransform::finish() && {
  ShardedLayer out{layer_, strategy_, {}, {}, {}};
  for (TensorIndex i = 0; i < layer_.tensors.size(); ++i) out.layer.tensors[i].shape = local_shape(i);
  for (Operator& op : out.layer.operators) {
    if (op.kind == OperatorKind::collective) {
      CollectiveCall& c = op.collective;
      Bytes bytes = bytes_of(out.layer, op);
      if (c.share < 1) bytes = round_up_bytes(c.share * static_cast<double>(bytes.value));
      if (c.forward != CollectiveKind::none) c.forward_bytes = bytes;
      // A ring passes the gradients of keys and values on with them.
      const std::int64_t tensors = c.backward == CollectiveKind::send ? 2 : 1;
      if (c.backward != CollectiveKind::none) c.backward_bytes = tensors * bytes;
      continue;
    }
    if (op.forward_flops.value > 0)
      op.forward_flops = op.forward_flops * (work_of(out.layer, op) / work_of(layer_, op));
    if (reads_rows_of_tables(op))
      op.parameter_bytes_read = rows_read(layer_, out.layer, op, op.parameter_bytes_read);
  }
  for (TensorIndex i = 0; i < layer_.tensors.size(); ++i) {
    if (is_activation(i)) continue;
    out.parameters.push_back({i, false, 1, facts_[i].partial_gradient});
    for (std::size_t d = 0; d < facts_[i].splits.size(); ++d) {
      const Dim& dim = layer_.tensors[i].shape[d];
      const std::int64_t size = facts_[i].splits[d].size;
      if (size != dim.size) out.padded.push_back({layer_.tensors[i].name, dim.axis, dim.size, size});
    }
  }
  list_uneven(layer_, out);
  return out;
}

}  // namespace nest::strategies
