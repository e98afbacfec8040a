#include "nest/model/describe.hpp"

#include <algorithm>
#include <vector>

namespace nest::model {
namespace {

Value names_of(const LayerType& type, const std::vector<TensorIndex>& tensors) {
  Value out = Value::array();
  for (const TensorIndex i : tensors) out.push(type.tensor(i).name);
  return out;
}

Value edge_value(const Edge& e) {
  Value v = Value::object();
  v.set("from", e.from.value).set("to", e.to.value).set("bytes", e.bytes.value).set("tensor", e.tensor);
  return v;
}

Value tensor_value(const Tensor& t) {
  Value axes = Value::array();
  for (const Dim& d : t.shape) axes.push(name_of(d.axis));
  Value sizes = Value::array();
  for (const Dim& d : t.shape) sizes.push(d.size);
  Value v = Value::object();
  v.set("name", t.name)
      .set("axes", std::move(axes))
      .set("shape", std::move(sizes))
      .set("dtype", name_of(t.dtype));
  return v;
}

// Forward FLOPs as torch.utils.flop_counter counts them: products, and attention as the full square, whatever its mask.
// Work element by element, as of a state space, it does not see.
Flops counter_flops(const LayerType& type) {
  Flops sum;
  for (const Operator& op : type.operators) {
    if (op.kind != OperatorKind::attention) {
      sum += op.forward_flops - op.uncounted;
      continue;
    }
    const Shape& q = type.tensor(op.inputs[0]).shape;
    const Shape& k = type.tensor(op.inputs[1]).shape;
    const Shape& v = type.tensor(op.inputs[2]).shape;
    sum += attention_flops({.batch = q[0].size,
                            .queries = q[1].size,
                            .heads = q[2].size,
                            .key_dim = q[3].size,
                            .keys = k[1].size,
                            .kv_heads = k[2].size,
                            .value_dim = v[3].size},
                           {});
  }
  return sum;
}

Value layers_value(const Model& model) {
  Value layers = Value::array();
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Layer& layer = model.layers[i];
    const LayerType& type = model.types[layer.type];
    Value v = Value::object();
    v.set("id", i).set("name", layer.name).set("type", layer.type).set("parameters", type.parameters());
    v.set("active_parameters", type.active_parameters()).set("forward_flops", type.forward_flops().value);
    v.set("counter_flops", counter_flops(type).value);
    v.set("output_bytes", type.output_bytes().value).set("stash_bytes", type.stash_bytes().value);
    if (type.apart_parameters() > 0) v.set("apart_parameters", type.apart_parameters());
    if (type.shared_parameters() > 0) v.set("shared_parameters", type.shared_parameters());
    layers.push(std::move(v));
  }
  return layers;
}

}  // namespace

Value describe_operators(const LayerType& type) {
  Value list = Value::array();
  for (const Operator& op : type.operators) {
    Value v = Value::object();
    v.set("name", op.name).set("kind", row_of(op.kind).name);
    v.set("inputs", names_of(type, op.inputs)).set("outputs", names_of(type, op.outputs));
    v.set("forward_flops", op.forward_flops.value).set("parameters", type.parameters(op));
    v.set("read_bytes", type.bytes_read(op).value).set("written_bytes", type.bytes_written(op).value);
    v.set("keeps", names_of(type, op.keeps));
    list.push(std::move(v));
  }
  return list;
}

const LayerType& typical_layer(const Model& model) {
  std::vector<int> uses(model.types.size(), 0);
  for (const Layer& layer : model.layers) ++uses[layer.type];
  std::size_t best = 0;
  for (std::size_t i = 0; i < model.types.size(); ++i) {
    const bool block = model.types[i].is_block();
    const bool better = !model.types[best].is_block() || uses[i] >= uses[best];
    if (block && better) best = i;
  }
  return model.types[best];
}

std::vector<LayerRun> layer_runs(const Model& model) {
  std::vector<LayerRun> runs;
  std::string first;
  for (const Layer& layer : model.layers) {
    if (runs.empty() || runs.back().type != layer.type) {
      first = layer.name;
      runs.push_back({first, layer.type, 1});
    } else {
      runs.back().name = first + " .. " + layer.name;
      ++runs.back().layers;
    }
  }
  return runs;
}

Value describe(const Model& model) {
  Value out = Value::object();
  out.set("name", model.name).set("family", model.family);
  out.set("parameters", model.parameters()).set("active_parameters", model.active_parameters());
  out.set("micro_batch", model.micro_batch).set("sequence", model.sequence);
  out.set("positions", model.positions > 0 ? Value(model.positions) : Value());
  out.set("hidden", model.hidden).set("blocks", model.blocks());
  out.set("forward_flops", model.forward_flops().value);
  out.set("forward_flops_per_token", model.forward_flops_per_token().value);
  double counted = 0;
  for (const Layer& layer : model.layers) counted += counter_flops(model.types[layer.type]).value;
  out.set("counter_flops", counted);
  Value apart = Value::array();
  for (const ApartParameters& a : model.apart) {
    Value v = Value::object();
    v.set("name", a.name).set("parameters", a.parameters).set("in_graph", a.in_graph);
    apart.push(std::move(v));
  }
  out.set("apart", std::move(apart));
  out.set("layers", layers_value(model));
  Value edges = Value::array();
  for (const Edge& e : model.edges) edges.push(edge_value(e));
  out.set("edges", std::move(edges));
  Value tied = Value::array();
  for (const TiedTensor& t : model.tied) {
    Value ids = Value::array();
    for (const LayerId id : t.layers) ids.push(id.value);
    Value v = Value::object();
    v.set("name", t.name).set("layers", std::move(ids)).set("parameters", t.parameters);
    tied.push(std::move(v));
  }
  out.set("tied", std::move(tied));
  Value types = Value::array();
  for (const LayerType& type : model.types) {
    Value tensors = Value::array();
    for (const Tensor& t : type.tensors) tensors.push(tensor_value(t));
    Value v = Value::object();
    v.set("name", type.name).set("tensors", std::move(tensors)).set("operators", describe_operators(type));
    types.push(std::move(v));
  }
  out.set("types", std::move(types));
  return out;
}

Value describe(const LayerProfile& profile) {
  const ProfileStrategy& first = profile.strategies.front();
  Value out = Value::object();
  out.set("name", profile.name).set("family", "layer-profile");
  // A profile does not tell which experts a token uses: active and total are the same figure.
  out.set("parameters", profile.parameters()).set("active_parameters", profile.parameters());
  out.set("micro_batch", profile.micro_batch).set("sequence", profile.sequence);
  Value strategies = Value::array();
  for (const ProfileStrategy& s : profile.strategies) {
    Value v = Value::object();
    v.set("tensor", s.tensor).set("expert", s.expert).set("context", s.context);
    v.set("sequence_parallel", s.sequence_parallel);
    strategies.push(std::move(v));
  }
  out.set("strategies", std::move(strategies));
  std::vector<std::int64_t> outputs(first.layers.size(), 0);
  for (const Edge& e : first.edges) {
    std::int64_t& output = outputs[e.from.index()];
    output = std::max(output, e.bytes.value);
  }
  Value layers = Value::array();
  for (std::size_t i = 0; i < first.layers.size(); ++i) {
    const ProfileLayer& layer = first.layers[i];
    Value v = Value::object();
    v.set("id", i)
        .set("name", layer.name)
        .set("parameters", layer.parameters.value / profile.parameter_dtype_bytes);
    // Times are given in place of FLOPs.
    v.set("forward_flops", Value()).set("output_bytes", outputs[i]);
    v.set("forward_s", layer.forward.value).set("backward_s", layer.backward.value);
    v.set("stash_bytes", layer.activations.value);
    layers.push(std::move(v));
  }
  out.set("layers", std::move(layers));
  Value edges = Value::array();
  for (const Edge& e : first.edges) edges.push(edge_value(e));
  out.set("edges", std::move(edges));
  return out;
}

}  // namespace nest::model
