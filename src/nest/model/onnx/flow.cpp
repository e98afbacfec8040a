#include "nest/model/onnx/flow.hpp"

#include <algorithm>

#include "nest/base/error.hpp"
#include "nest/model/onnx/onnx_messages.hpp"

namespace nest::model {

Flow::Flow(const OnnxGraph& graph, OnnxShapes shapes, std::int64_t sequences)
    : batch(sequences),
      graph_(&graph),
      shapes_(std::move(shapes)),
      node_of_(graph.values.size(), kNobody),
      tensor_of_(graph.values.size(), kNobody) {
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    for (const OnnxValueId v : graph.nodes[i].outputs) {
      if (v != kNoValue) node_of_[v] = i;
    }
  }
  for (std::uint32_t i = 0; i < graph.tensors.size(); ++i) {
    if (graph.tensor_values[i] != kNoValue) tensor_of_[graph.tensor_values[i]] = i;
  }
}

const OnnxNode* Flow::node_of(OnnxValueId value) const {
  return value < node_of_.size() && node_of_[value] != kNobody ? &graph_->nodes[node_of_[value]] : nullptr;
}

std::optional<std::size_t> Flow::tensor_of(OnnxValueId value) const {
  if (value >= tensor_of_.size() || tensor_of_[value] == kNobody) return std::nullopt;
  return tensor_of_[value];
}

const OnnxShape& Flow::shape(OnnxValueId value) const {
  const OnnxInferred& known = shapes_[value];
  if (!known.shape) {
    const std::string name = value < graph_->values.size() ? graph_->values[value] : "";
    throw InputError(graph_->file, "value " + quoted_name(name), "its shape is not known",
                     "declare it in the file: onnx.shape_inference.infer_shapes does so");
  }
  return *known.shape;
}

OnnxValueId Flow::fresh_value(OnnxValueId like) {
  shapes_.push_back(shapes_[like]);
  return static_cast<OnnxValueId>(shapes_.size() - 1);
}

OnnxValueId Flow::fresh_value(OnnxShape shape, int type) {
  shapes_.push_back({type, std::move(shape), nullptr});
  return static_cast<OnnxValueId>(shapes_.size() - 1);
}

std::int64_t Flow::elements(OnnxValueId value) const {
  static_cast<void>(shape(value));
  return shapes_[value].elements();
}

void Flow::index() {
  maker_.assign(shapes_.size(), kNobody);
  users_.assign(shapes_.size(), {});
  output_.assign(shapes_.size(), false);
  for (const OnnxValueId v : outputs) output_[v] = true;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (!ops[i].alive) continue;
    for (const OnnxValueId v : ops[i].out) maker_[v] = i;
    for (const OnnxValueId v : ops[i].in) {
      if (users_[v].empty() || users_[v].back() != i) users_[v].push_back(i);
    }
  }
}

FlowOp* Flow::maker(OnnxValueId value) {
  return maker_[value] == kNobody ? nullptr : &ops[maker_[value]];
}

const FlowOp* Flow::maker(OnnxValueId value) const {
  return maker_[value] == kNobody ? nullptr : &ops[maker_[value]];
}

FlowOp* Flow::only_user(OnnxValueId value) {
  constexpr std::size_t kMany = 64;
  FlowOp* only = nullptr;
  if (users_[value].size() > kMany || is_output(value)) return nullptr;
  for (const std::uint32_t user : users_[value]) {
    if (!ops[user].alive || &ops[user] == only) continue;
    if (only != nullptr) return nullptr;
    only = &ops[user];
  }
  return only;
}

bool Flow::is_output(OnnxValueId value) const {
  return value < output_.size() && output_[value];
}

void Flow::tidy() {
  std::vector<bool> wanted(shapes_.size(), false);
  for (const OnnxValueId v : outputs) wanted[v] = true;
  for (std::size_t i = ops.size(); i-- > 0;) {
    FlowOp& op = ops[i];
    op.alive = op.alive && std::ranges::any_of(op.out, [&](OnnxValueId v) { return wanted[v]; });
    if (!op.alive) continue;
    for (const OnnxValueId v : op.in) wanted[v] = true;
  }
  std::erase_if(ops, [](const FlowOp& op) { return !op.alive; });
  index();
}

}  // namespace nest::model
