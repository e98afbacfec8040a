#include "nest/model/onnx/infer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/units.hpp"
#include "nest/model/onnx/infer_numbers.hpp"
#include "nest/model/onnx/infer_rules.hpp"
#include "nest/model/onnx/onnx_messages.hpp"

namespace nest::model {
namespace {

constexpr double kMostOfAll = 1e15;
// Contents of all values together: files ask for shapes, not for arithmetic.
constexpr std::size_t kMostComputed = 20'000'000;

// A loop or a branch runs a graph of its own, as often as its inputs say.
void refuse_graphs(const OnnxGraph& graph, const OnnxNode& node) {
  for (const OnnxAttribute& attribute : node.attributes) {
    if (!attribute.graph) continue;
    throw InputError(graph.file, "operator " + quoted_name(node.op),
                     "it runs a graph of its own, as often as its inputs say, which is not modelled",
                     "export the model without loops and branches");
  }
}

void fill_in_declared(const OnnxGraph& graph, const OnnxSizes& sizes, const OnnxRun& run, OnnxShapes& out) {
  const auto take = [&](const OnnxDeclared& declared) {
    OnnxInferred& value = out[declared.value];
    if (value.type == 0) value.type = declared.type;
    if (!value.shape) value.shape = sizes.shape(declared, run);
  };
  for (const OnnxDeclared& declared : graph.declared) {
    if (declared.value != kNoValue && declared.is_tensor) take(declared);
  }
}

}  // namespace

std::int64_t OnnxInferred::elements() const {
  return shape ? elements_of(*shape) : 0;
}

std::optional<std::vector<std::int64_t>> InferStep::list(const char* attribute, std::size_t i) const {
  if (const OnnxAttribute* own = node_->find(attribute)) return own->wholes;
  const OnnxNumbers* given = numbers(i);
  if (given == nullptr || given->are_real) return std::nullopt;
  return given->wholes;
}

std::size_t InferStep::axis(std::int64_t given, std::size_t rank) const {
  const auto all = static_cast<std::int64_t>(rank);
  const std::int64_t at = given < 0 ? given + all : given;
  if (at < 0 || at >= all)
    fail("axis " + std::to_string(given) + " of a value with " + std::to_string(rank) + " axes");
  return static_cast<std::size_t>(at);
}

void InferStep::make(std::size_t output, OnnxShape shape, int type) {
  if (output >= node_->outputs.size() || node_->outputs[output] == kNoValue) return;
  double all = 1;
  for (const std::int64_t d : shape) {
    if (d < 0 || d > kLongestOnnxAxis) fail("it makes an axis of " + format_digits(d) + " elements");
    all *= static_cast<double>(std::max<std::int64_t>(d, 1));
  }
  if (all > kMostOfAll) fail("it makes more than 10^15 elements");
  OnnxInferred& value = (*values_)[node_->outputs[output]];
  value.shape = std::move(shape);
  if (type == 0 && node_->reads(0)) type = input(0).type;
  value.type = type;
}

void InferStep::fail(const std::string& what) const {
  std::string made;
  for (const OnnxValueId v : node_->outputs) {
    if (v != kNoValue && made.empty()) made = " that makes " + quoted_name(graph_->values[v]);
  }
  throw InputError(graph_->file, "operator " + quoted_name(node_->op) + made, what);
}

OnnxShape broadcast(const InferStep& step, const OnnxShape& a, const OnnxShape& b) {
  const OnnxShape& wide = a.size() >= b.size() ? a : b;
  const OnnxShape& slim = a.size() >= b.size() ? b : a;
  OnnxShape out = wide;
  const std::size_t before = wide.size() - slim.size();
  for (std::size_t i = 0; i < slim.size(); ++i) {
    std::int64_t& d = out[before + i];
    if (d == slim[i] || slim[i] == 1) continue;
    if (d != 1)
      step.fail("axes of " + std::to_string(d) + " and " + std::to_string(slim[i]) + " do not go together");
    d = slim[i];
  }
  return out;
}

OnnxShapes infer_shapes(const OnnxGraph& graph, const OnnxSizes& sizes, const OnnxRun& run) {
  OnnxShapes out(graph.values.size());
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const OnnxTensor& tensor = graph.tensors[i];
    if (graph.tensor_values[i] == kNoValue) continue;
    OnnxInferred& value = out[graph.tensor_values[i]];
    value.type = tensor.type;
    value.shape = tensor.dims;
    if (tensor.numbers && !tensor.two_rows)
      value.numbers = std::make_shared<const OnnxNumbers>(*tensor.numbers);
  }
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const OnnxDeclared& input = graph.inputs[i];
    OnnxInferred& value = out[input.value];
    value.type = input.type;
    if (input.has_shape && input.is_tensor) value.shape = sizes.shape(i, run);
  }
  // What a rule finds stands before what the file declares.
  OnnxShapes declared(graph.values.size());
  fill_in_declared(graph, sizes, run, declared);
  std::size_t computed = 0;
  for (const OnnxNode& node : graph.nodes) {
    refuse_graphs(graph, node);
    InferStep step(graph, node, out);
    infer_by_rule(step);
    // Contents are computed where a rule has looked at what they come from.
    if (computed < kMostComputed) compute_numbers(step, out);
    for (const OnnxValueId v : node.outputs) {
      if (v == kNoValue) continue;
      if (out[v].numbers) computed += out[v].numbers->size();
      if (!out[v].shape) out[v].shape = declared[v].shape;
      if (out[v].type == 0) out[v].type = declared[v].type;
    }
  }
  return out;
}

bool has_shape_rule(const OnnxNode& node) {
  return find_shape_rule(node) != nullptr;
}

}  // namespace nest::model
