#include "nest/model/graph/layer_builder.hpp"

#include <cassert>
#include <utility>

#include "nest/base/units.hpp"

namespace nest::model {

LayerBuilder::LayerBuilder(std::string name, LayerStyle style) : style_(std::move(style)) {
  layer_.name = std::move(name);
}

TensorIndex LayerBuilder::add_tensor(Tensor tensor) {
  if (elements(tensor.shape) > kMostLayerValues) {
    throw TooLarge("the layer '" + layer_.name + "' would have more than " + format_digits(kMostLayerValues) +
                   " values in '" + tensor.name + "'");
  }
  if (tensor.role == Role::parameter) tensor.apart = apart_;
  layer_.tensors.push_back(std::move(tensor));
  return layer_.tensors.size() - 1;
}

void LayerBuilder::add_operator(Operator op) {
  const OperatorKindRow& row = row_of(op.kind);
  // Only a flash kernel makes its probabilities again, for which it needs its result.
  const bool keeps_outputs = row.keeps_outputs && (op.kind != OperatorKind::attention || op.attention.flash);
  if (row.keeps_inputs) op.keeps.insert(op.keeps.end(), op.inputs.begin(), op.inputs.end());
  if (keeps_outputs) op.keeps.insert(op.keeps.end(), op.outputs.begin(), op.outputs.end());
  layer_.operators.push_back(std::move(op));
}

TensorIndex LayerBuilder::input(std::string name, Shape shape, DType dtype) {
  const TensorIndex i = add_tensor({std::move(name), std::move(shape), dtype, Role::input});
  layer_.inputs.push_back(i);
  return i;
}

TensorIndex LayerBuilder::norm(const std::string& name, TensorIndex in, NormKind kind, std::size_t span) {
  Shape rows = shape(in);
  assert(span >= 1 && span < rows.size());
  const Shape width(rows.end() - static_cast<std::ptrdiff_t>(span), rows.end());
  rows.resize(rows.size() - span);
  Operator op{name, kind == NormKind::rms ? OperatorKind::rms_norm : OperatorKind::layer_norm, {in}};
  if (kind != NormKind::bare)
    op.parameters.push_back(add_tensor({name + ".weight", width, DType::bf16, Role::parameter}));
  if (kind == NormKind::layer)
    op.parameters.push_back(add_tensor({name + ".bias", width, DType::bf16, Role::parameter}));
  if (kind != NormKind::rms) op.keeps.push_back(add_tensor({name + ".mean", rows, DType::fp32}));
  op.keeps.push_back(add_tensor({name + ".scale", rows, DType::fp32}));
  const bool plain = kind == NormKind::rms && style_.plain_norms;
  if (plain) {
    op.keeps.push_back(add_tensor({name + ".wide", shape(in), DType::fp32}));
    op.keeps.push_back(add_tensor({name + ".normed", shape(in)}));
  }
  op.outputs.push_back(add_tensor({name + ".out", shape(in)}));
  const TensorIndex out = op.outputs.front();
  add_operator(std::move(op));
  if (plain) std::erase(layer_.operators.back().keeps, in);
  return out;
}

std::vector<TensorIndex> LayerBuilder::products(const std::string& name, TensorIndex in, const Shape& experts,
                                                const Shape& contract, const std::vector<Weight>& weights) {
  const Shape from = shape(in);
  assert(from.size() >= contract.size());
  const Shape rows(from.begin(), from.end() - static_cast<std::ptrdiff_t>(contract.size()));
  assert(Shape(from.end() - static_cast<std::ptrdiff_t>(contract.size()), from.end()) == contract);
  const auto row_count = static_cast<double>(elements(rows));
  Operator op{name, experts.empty() ? OperatorKind::matmul : OperatorKind::grouped_matmul, {in}};
  for (const Weight& w : weights) {
    const std::string prefix = weights.size() == 1 ? name : name + "." + w.name;
    op.parameters.push_back(
        add_tensor({prefix + ".weight", join(experts, join(contract, w.features)), DType::bf16, w.role}));
    if (w.bias) {
      op.parameters.push_back(
          add_tensor({prefix + ".bias", join(experts, w.features), DType::bf16, Role::parameter}));
    }
    op.outputs.push_back(add_tensor({w.name, join(rows, w.features)}));
    op.forward_flops +=
        Flops{2.0 * row_count * static_cast<double>(times(elements(contract), elements(w.features)))};
  }
  std::vector<TensorIndex> outputs = op.outputs;
  add_operator(std::move(op));
  return outputs;
}

std::vector<TensorIndex> LayerBuilder::matmul(const std::string& name, TensorIndex in, const Shape& contract,
                                              const std::vector<Weight>& weights) {
  return products(name, in, {}, contract, weights);
}

TensorIndex LayerBuilder::matmul(const std::string& name, TensorIndex in, const Shape& contract,
                                 const Weight& weight) {
  return matmul(name, in, contract, std::vector<Weight>{weight}).front();
}

std::vector<TensorIndex> LayerBuilder::grouped_matmul(const std::string& name, TensorIndex in, Dim experts,
                                                      const Shape& contract,
                                                      const std::vector<Weight>& weights) {
  return products(name, in, {experts}, contract, weights);
}

TensorIndex LayerBuilder::attention(const std::string& name, TensorIndex q, TensorIndex k, TensorIndex v,
                                    const AttentionFacts& shape_facts) {
  // Copies: adding a tensor moves the others. [batch, sequence, heads, head_dim]
  const Shape qs = shape(q);
  const Shape ks = shape(k);
  const Shape vs = shape(v);
  Operator op{name, OperatorKind::attention, {q, k, v}};
  op.attention = shape_facts;
  op.attention.flash = style_.flash;
  op.attention.dropout = style_.dropout;
  op.attention.packed = style_.packed;
  if (op.attention.chunk >= ks[1].size) op.attention.chunk = 0;
  if (op.attention.chunk > 0) {
    const Packing whole = style_.packed ? *style_.packed : Packing::equal(ks[1].size, ks[1].size);
    op.attention.packed = std::make_shared<const Packing>(whole.in_chunks(op.attention.chunk));
  }
  op.forward_flops = attention_flops({.batch = qs[0].size,
                                      .queries = qs[1].size,
                                      .heads = qs[2].size,
                                      .key_dim = qs[3].size,
                                      .keys = ks[1].size,
                                      .kv_heads = ks[2].size,
                                      .value_dim = vs[3].size},
                                     op.attention);
  const Shape out{qs[0], qs[1], qs[2], vs[3]};
  if (style_.flash) {
    // The fused kernel keeps one log-sum-exp per query and head, and recomputes the rest.
    op.keeps.push_back(add_tensor({name + ".log_sum", {qs[0], qs[2], qs[1]}, DType::fp32}));
  } else {
    // All keys of the sequence, however it is split: a device's queries attend to every one of them.
    const Shape scores{qs[0], qs[2], qs[1], {Axis::other, ks[1].size}};
    op.keeps.push_back(add_tensor({name + ".softmax", scores}));
    if (style_.dropout) {
      op.keeps.push_back(add_tensor({name + ".mask", scores, DType::uint8}));
      op.keeps.push_back(add_tensor({name + ".dropped", scores}));
    }
  }
  op.outputs.push_back(add_tensor({name + ".out", out}));
  const TensorIndex made = op.outputs.front();
  add_operator(std::move(op));
  return made;
}

TensorIndex LayerBuilder::pointwise(const std::string& name, OperatorKind kind,
                                    std::vector<TensorIndex> inputs) {
  const Shape out = shape(inputs.front());
  const TensorIndex made = general({name, kind, std::move(inputs), {}, {{name + ".out", out}}}).front();
  const bool gated = kind == OperatorKind::swiglu || kind == OperatorKind::geglu;
  if (gated && !style_.fused) also_keep({add_tensor({name + ".gate", out})});
  return made;
}

TensorIndex LayerBuilder::residual(const std::string& name, std::vector<TensorIndex> inputs) {
  const std::vector<TensorIndex> added(inputs.begin() + 1, inputs.end());
  const TensorIndex made = pointwise(name, OperatorKind::add, std::move(inputs));
  for (std::size_t i = 0; style_.dropout && i < added.size(); ++i) {
    const Shape dropped = shape(added[i]);
    also_keep({add_tensor({name + ".mask" + (i > 0 ? std::to_string(i) : ""), dropped, DType::uint8})});
  }
  return made;
}

std::vector<TensorIndex> LayerBuilder::general(General general) {
  Operator op{std::move(general.name), general.kind, std::move(general.inputs)};
  op.parameter_bytes_read = general.parameter_bytes_read;
  for (Tensor& t : general.parameters) op.parameters.push_back(add_tensor(std::move(t)));
  for (Tensor& t : general.outputs) op.outputs.push_back(add_tensor(std::move(t)));
  std::vector<TensorIndex> made = op.outputs;
  add_operator(std::move(op));
  return made;
}

void LayerBuilder::also_keep(const std::vector<TensorIndex>& tensors) {
  std::vector<TensorIndex>& keeps = layer_.operators.back().keeps;
  keeps.insert(keeps.end(), tensors.begin(), tensors.end());
}

void LayerBuilder::also_parameter(Tensor parameter) {
  const TensorIndex i = add_tensor(std::move(parameter));
  layer_.operators.back().parameters.push_back(i);
}

void LayerBuilder::share_since(std::size_t first) {
  for (std::size_t i = first; i < layer_.tensors.size(); ++i) {
    if (layer_.tensors[i].role == Role::parameter) layer_.tensors[i].role = Role::shared;
  }
}

LayerType LayerBuilder::finish(std::vector<TensorIndex> outputs) {
  if (plus(plus(layer_.parameters(), layer_.apart_parameters()), layer_.shared_parameters()) >
      kMostLayerValues) {
    throw TooLarge("the layer '" + layer_.name + "' would have more than " + format_digits(kMostLayerValues) +
                   " parameters");
  }
  layer_.outputs = std::move(outputs);
  return std::move(layer_);
}

}  // namespace nest::model
