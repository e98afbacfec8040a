#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "nest/base/error.hpp"
#include "nest/model/onnx/fuse.hpp"

namespace nest::model {
namespace {

// A product with one weight [contract, features], whichever way round it lies.
void settle(FlowOp& op, std::int64_t contract, std::int64_t features) {
  op.contract = contract;
  op.weights.front().dims = {contract, features};
}

void settle_matmul(const Flow& flow, FlowOp& op, const OnnxNode& node) {
  if (op.weights.empty() || op.in.empty()) {
    op.kind = FlowKind::batched;
    op.contract = sums_of(flow, op, flow.shapes()).value_or(1);
    return;
  }
  const OnnxShape dims = op.weights.front().dims;
  const bool weight_first = node.inputs[0] != op.read[0];
  const bool turned = node.whole_or(weight_first ? "transA" : "transB", 0) != 0;
  const std::int64_t last = dims.back();
  const std::int64_t other = dims.size() > 1 ? dims[dims.size() - 2] : 1;
  const std::int64_t groups = elements_of(dims) / std::max<std::int64_t>(1, last * other);
  const bool contracts_last = dims.size() == 1 || weight_first != turned;
  const std::int64_t contract = contracts_last ? last : other;
  if (groups > 1) {
    op.kind = FlowKind::batched;
    op.contract = contract;
    return;
  }
  settle(op, contract, contracts_last ? other : last);
}

// The letters of an equation of two factors by who has them: contracted ones are in both and not in the result.
struct Equation {
  std::string left;
  std::string right;
  std::string made;

  [[nodiscard]] bool sums_over(char letter) const {
    return right.find(letter) != std::string::npos && made.find(letter) == std::string::npos;
  }
};

std::optional<Equation> equation_of(const OnnxNode& node) {
  const OnnxAttribute* given = node.find("equation");
  std::string text = given == nullptr ? "" : given->text;
  std::erase(text, ' ');
  const std::size_t arrow = text.find("->");
  const std::size_t comma = text.find(',');
  if (arrow == std::string::npos || comma == std::string::npos || comma > arrow || node.inputs.size() != 2)
    return std::nullopt;
  return Equation{text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1), text.substr(arrow + 2)};
}

void settle_einsum(const Flow& flow, FlowOp& op, const OnnxNode& node) {
  op.kind = FlowKind::batched;
  const std::optional<Equation> equation = equation_of(node);
  if (!equation) return;
  const auto& [left, right, made] = *equation;
  const auto sizes = [&](const std::string& letters, std::size_t input) {
    std::map<char, std::int64_t> out;
    const OnnxShape& shape = flow.shape(node.inputs[input]);
    for (std::size_t i = 0; i < letters.size() && i < shape.size(); ++i) out[letters[i]] = shape[i];
    return out;
  };
  const bool weight_first = !op.weights.empty() && !op.read.empty() && node.inputs[0] != op.read[0];
  const std::string& of_weight = weight_first ? left : right;
  const std::string& of_data = weight_first ? right : left;
  std::int64_t contract = 1;
  std::int64_t features = 1;
  bool grouped = false;
  for (const auto& [letter, size] : sizes(of_weight, weight_first ? 0 : 1)) {
    const bool in_data = of_data.find(letter) != std::string::npos;
    const bool in_result = made.find(letter) != std::string::npos;
    if (in_data && !in_result) contract *= size;
    if (!in_data && in_result) features *= size;
    grouped = grouped || (in_data && in_result && size > 1);
  }
  op.contract = sums_of(flow, op, flow.shapes()).value_or(contract);
  if (op.weights.size() == 1 && op.in.size() == 1 && !grouped) {
    op.kind = FlowKind::product;
    settle(op, contract, features);
  }
}

void settle_convolution(const Flow& flow, FlowOp& op) {
  if (op.weights.empty() || op.in.empty()) {
    op.kind = FlowKind::batched;
    return;
  }
  op.bias = op.weights.size() > 1 && op.weights[1].dims.size() == 1;
  op.weights.resize(op.bias ? 2 : 1);
  const OnnxShape& kernel = op.weights.front().dims;
  op.contract = elements_of(kernel) / std::max<std::int64_t>(1, kernel.front());
  // Each group of channels has a kernel of its own.
  if (kernel.size() > 1 && flow.shape(op.read[0]).size() > 1 && kernel[1] != flow.shape(op.read[0])[1])
    op.kind = FlowKind::batched;
}

// One number for each feature, which the last weight is.
bool is_bias(const FlowWeight& weight, std::int64_t features) {
  return elements_of(weight.dims) == features && !weight.dims.empty() && weight.dims.back() == features;
}

}  // namespace

std::optional<std::int64_t> sums_of(const Flow& flow, const FlowOp& op, const OnnxShapes& shapes) {
  const OnnxNode& node = flow.graph().nodes[op.node];
  if (op.kind != FlowKind::batched || op.op != node.op || !op.weights.empty()) return std::nullopt;
  const auto shape = [&](std::size_t i) -> const OnnxShape* {
    const bool known = node.reads(i) && node.inputs[i] < shapes.size() && shapes[node.inputs[i]].shape;
    return known ? &*shapes[node.inputs[i]].shape : nullptr;
  };
  const OnnxShape* left = shape(0);
  if (left == nullptr || left->empty()) return std::nullopt;
  if (op.op != "Einsum") {
    const bool turned = node.whole_or("transA", 0) != 0 && left->size() > 1;
    return turned ? (*left)[left->size() - 2] : left->back();
  }
  const std::optional<Equation> equation = equation_of(node);
  if (!equation) return std::nullopt;
  double sums = 1;
  for (std::size_t i = 0; i < equation->left.size() && i < left->size(); ++i) {
    if (equation->sums_over(equation->left[i])) sums *= static_cast<double>((*left)[i]);
  }
  return sums < 1e15 ? std::optional(static_cast<std::int64_t>(sums)) : std::nullopt;
}

void settle_products(Flow& flow) {
  for (FlowOp& op : flow.ops) {
    const OnnxNode& node = flow.graph().nodes[op.node];
    if (op.kind == FlowKind::convolution) {
      settle_convolution(flow, op);
      continue;
    }
    if (op.kind != FlowKind::product || op.settled) continue;
    if (op.op == "MatMulNBits") {
      const std::int64_t k = node.whole_or("K", 0);
      const std::int64_t n = node.whole_or("N", 0);
      if (op.weights.empty()) continue;
      const bool bias = op.weights.size() > 1 && is_bias(op.weights.back(), n) && node.reads(5);
      if (bias) op.weights[1] = op.weights.back();
      op.weights.resize(bias ? 2 : 1);
      op.bias = bias;
      if (k < 1 || n < 1 || static_cast<double>(k) * static_cast<double>(n) > 1e15)
        throw InputError(flow.graph().file, "operator 'MatMulNBits'", "its K and N are no sizes of a weight");
      settle(op, k, n);
      continue;
    }
    if (op.op == "Einsum")
      settle_einsum(flow, op, node);
    else
      settle_matmul(flow, op, node);
    if (op.op == "Gemm" && op.kind == FlowKind::product) {
      op.bias = op.weights.size() > 1 && is_bias(op.weights[1], op.weights[0].dims[1]);
      op.weights.resize(op.bias ? 2 : 1);
    }
  }
}

void join_biases(Flow& flow) {
  for (std::size_t i = 0; i < flow.ops.size(); ++i) {
    FlowOp& product = flow.ops[i];
    const bool can =
        (product.kind == FlowKind::product || product.kind == FlowKind::convolution) && !product.bias;
    if (!can || product.out.size() != 1) continue;
    FlowOp* add = flow.only_user(product.out[0]);
    if (add == nullptr || add->op != "Add" || add->in.size() != 1 || add->weights.size() != 1) continue;
    const std::int64_t features =
        product.kind == FlowKind::product ? product.weights[0].dims[1] : product.weights[0].dims[0];
    if (elements_of(add->weights[0].dims) != features) continue;
    product.bias = true;
    product.weights.push_back(add->weights[0]);
    product.out = add->out;
    flow.set_maker(product.out[0], i);
    add->alive = false;
  }
  flow.tidy();
}

void split_products(Flow& flow) {
  for (std::size_t i = 0; i < flow.ops.size(); ++i) {
    FlowOp& product = flow.ops[i];
    if (!product.alive || product.kind != FlowKind::product || product.out.size() != 1 ||
        flow.is_output(product.out[0]))
      continue;
    const OnnxValueId whole = product.out[0];
    std::vector<OnnxValueId> parts;
    std::int64_t elements = 0;
    bool only_cuts = true;
    for (const std::uint32_t user : flow.users(whole)) {
      const FlowOp& cut = flow.ops[user];
      only_cuts = only_cuts && cut.kind == FlowKind::cut && cut.in.size() == 1;
      for (const OnnxValueId v : cut.out) {
        parts.push_back(v);
        elements += only_cuts ? flow.elements(v) : 0;
      }
    }
    if (!only_cuts || parts.size() < 2 || elements != flow.elements(whole)) continue;
    for (const std::uint32_t user : flow.users(whole)) flow.ops[user].alive = false;
    product.out = std::move(parts);
    for (const OnnxValueId v : product.out) flow.set_maker(v, i);
  }
  flow.tidy();
}

}  // namespace nest::model
