#include "nest/model/onnx/infer_rules.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace nest::model {
namespace {

constexpr int kTruth = kOnnxBool;

void same(InferStep& step) {
  if (step.knows(0)) step.make(0, step.shape(0));
}

// The first result is like the first input, whatever else is made.
void truth(InferStep& step) {
  if (step.knows(0)) step.make(0, step.shape(0), kTruth);
}

void cast(InferStep& step) {
  if (step.knows(0)) step.make(0, step.shape(0), static_cast<int>(step.node().whole_or("to", kOnnxFloat)));
}

void dropout(InferStep& step) {
  same(step);
  if (step.knows(0)) step.make(1, step.shape(0), kTruth);
}

// Statistics beside the result have one value where the others are normalized over.
void normalize(InferStep& step) {
  same(step);
}

// com.microsoft's additions before a norm: results 0 and 3 are like the input.
void skip_normalize(InferStep& step) {
  if (!step.knows(0)) return;
  step.make(0, step.shape(0));
  step.make(3, step.shape(0));
}

void broadcast_all(InferStep& step, int type) {
  OnnxShape out;
  for (std::size_t i = 0; i < step.node().inputs.size(); ++i) {
    if (!step.node().reads(i)) continue;
    if (!step.knows(i)) return;
    out = broadcast(step, out, step.shape(i));
  }
  step.make(0, std::move(out), type);
}
void elementwise(InferStep& step) {
  broadcast_all(step, 0);
}
void compare(InferStep& step) {
  broadcast_all(step, kTruth);
}
void where(InferStep& step) {
  const int type = step.node().reads(1) ? step.input(1).type : 0;
  broadcast_all(step, type);
}

void shape_of(InferStep& step) {
  if (!step.knows(0)) return;
  const auto rank = static_cast<std::int64_t>(step.shape(0).size());
  const auto bound = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t first = bound(step.node().whole_or("start", 0));
  const std::int64_t last = bound(step.node().whole_or("end", rank));
  step.make(0, {std::max<std::int64_t>(0, last - first)}, kOnnxInt64);
}

void size_of(InferStep& step) {
  if (step.knows(0)) step.make(0, {}, kOnnxInt64);
}

void range(InferStep& step) {
  const OnnxNumbers* first = step.numbers(0);
  const OnnxNumbers* last = step.numbers(1);
  const OnnxNumbers* by = step.numbers(2);
  if (first == nullptr || last == nullptr || by == nullptr) return;
  if (first->size() != 1 || last->size() != 1 || by->size() != 1 || by->real(0) == 0)
    step.fail("its beginning, end and step are no single numbers");
  const double count = std::ceil((last->real(0) - first->real(0)) / by->real(0));
  step.make(0, {static_cast<std::int64_t>(std::clamp(count, 0.0, 1e12))});
}

void constant_of_shape(InferStep& step) {
  const OnnxNumbers* wanted = step.numbers(0);
  if (wanted == nullptr || wanted->are_real) return;
  const OnnxAttribute* value = step.node().find("value");
  step.make(0, wanted->wholes, value != nullptr && value->tensor ? value->tensor->type : kOnnxFloat);
}

void reduce(InferStep& step) {
  if (!step.knows(0)) return;
  const OnnxShape& in = step.shape(0);
  std::optional<std::vector<std::int64_t>> axes = step.list("axes", 1);
  if (!axes && step.node().reads(1)) return;
  const bool all = !axes || axes->empty();
  if (all && step.node().whole_or("noop_with_empty_axes", 0) != 0) return step.make(0, in);
  std::vector<bool> gone(in.size(), all);
  if (axes) {
    for (const std::int64_t a : *axes) gone[step.axis(a, in.size())] = true;
  }
  const bool keeps = step.node().whole_or("keepdims", 1) != 0;
  OnnxShape out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!gone[i]) out.push_back(in[i]);
    if (gone[i] && keeps) out.push_back(1);
  }
  step.make(0, std::move(out));
}

void arg_of(InferStep& step) {
  if (!step.knows(0)) return;
  OnnxShape out = step.shape(0);
  const std::size_t axis = step.axis(step.node().whole_or("axis", 0), out.size());
  if (step.node().whole_or("keepdims", 1) != 0)
    out[axis] = 1;
  else
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(axis));
  step.make(0, std::move(out), kOnnxInt64);
}

void top_k(InferStep& step) {
  const OnnxNumbers* k = step.numbers(1);
  if (!step.knows(0) || k == nullptr || k->size() != 1) return;
  OnnxShape out = step.shape(0);
  out[step.axis(step.node().whole_or("axis", -1), out.size())] = static_cast<std::int64_t>(k->real(0));
  step.make(0, out);
  step.make(1, std::move(out), kOnnxInt64);
}

void one_hot(InferStep& step) {
  const OnnxNumbers* depth = step.numbers(1);
  if (!step.knows(0) || depth == nullptr || depth->size() != 1) return;
  OnnxShape out = step.shape(0);
  const std::size_t at = step.axis(step.node().whole_or("axis", -1), out.size() + 1);
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), static_cast<std::int64_t>(depth->real(0)));
  step.make(0, std::move(out), step.node().reads(2) ? step.input(2).type : 0);
}

// com.microsoft's sum of tables and a norm: ids, types, and the tables.
void embed_normalize(InferStep& step) {
  if (!step.knows(0) || !step.knows(2) || step.shape(2).size() != 2) return;
  OnnxShape out = step.shape(0);
  out.push_back(step.shape(2)[1]);
  const int type = step.input(2).type;
  step.make(0, out, type);
  step.make(2, std::move(out), type);
}

void experts(InferStep& step) {
  same(step);
}

struct RuleRow {
  std::string_view op;
  ShapeRule rule;
};

constexpr std::array kOwn{
    RuleRow{"Abs", same},
    RuleRow{"Add", elementwise},
    RuleRow{"And", compare},
    RuleRow{"ArgMax", arg_of},
    RuleRow{"ArgMin", arg_of},
    RuleRow{"Attention", infer_attention},
    RuleRow{"AveragePool", infer_pool},
    RuleRow{"BatchNormalization", normalize},
    RuleRow{"BitwiseAnd", elementwise},
    RuleRow{"BitwiseNot", same},
    RuleRow{"BitwiseOr", elementwise},
    RuleRow{"Cast", cast},
    RuleRow{"CastLike", same},
    RuleRow{"Ceil", same},
    RuleRow{"Celu", same},
    RuleRow{"Clip", same},
    RuleRow{"Concat", infer_concat},
    RuleRow{"ConstantOfShape", constant_of_shape},
    RuleRow{"Conv", infer_conv},
    RuleRow{"Cos", same},
    RuleRow{"CumSum", same},
    RuleRow{"DepthToSpace", infer_depth_to_space},
    RuleRow{"DequantizeLinear", same},
    RuleRow{"Div", elementwise},
    RuleRow{"Dropout", dropout},
    RuleRow{"Einsum", infer_einsum},
    RuleRow{"Elu", same},
    RuleRow{"Equal", compare},
    RuleRow{"Erf", same},
    RuleRow{"Exp", same},
    RuleRow{"Expand", infer_expand},
    RuleRow{"Flatten", infer_flatten},
    RuleRow{"Floor", same},
    RuleRow{"Gather", infer_gather},
    RuleRow{"GatherElements", infer_gather_elements},
    RuleRow{"GatherND", infer_gather_nd},
    RuleRow{"Gelu", same},
    RuleRow{"Gemm", infer_gemm},
    RuleRow{"GlobalAveragePool", infer_global_pool},
    RuleRow{"GlobalMaxPool", infer_global_pool},
    RuleRow{"Greater", compare},
    RuleRow{"GreaterOrEqual", compare},
    RuleRow{"GroupNormalization", normalize},
    RuleRow{"HardSigmoid", same},
    RuleRow{"HardSwish", same},
    RuleRow{"Identity", same},
    RuleRow{"InstanceNormalization", normalize},
    RuleRow{"IsInf", truth},
    RuleRow{"IsNaN", truth},
    RuleRow{"LRN", same},
    RuleRow{"LayerNormalization", normalize},
    RuleRow{"LeakyRelu", same},
    RuleRow{"Less", compare},
    RuleRow{"LessOrEqual", compare},
    RuleRow{"Log", same},
    RuleRow{"LogSoftmax", same},
    RuleRow{"LpNormalization", same},
    RuleRow{"MatMul", infer_matmul},
    RuleRow{"Max", elementwise},
    RuleRow{"MaxPool", infer_pool},
    RuleRow{"Mean", elementwise},
    RuleRow{"Min", elementwise},
    RuleRow{"Mish", same},
    RuleRow{"Mod", elementwise},
    RuleRow{"Mul", elementwise},
    RuleRow{"Neg", same},
    RuleRow{"Not", same},
    RuleRow{"OneHot", one_hot},
    RuleRow{"Or", compare},
    RuleRow{"PRelu", same},
    RuleRow{"Pad", infer_pad},
    RuleRow{"Pow", elementwise},
    RuleRow{"QuantizeLinear", same},
    RuleRow{"RMSNormalization", normalize},
    RuleRow{"RandomNormalLike", same},
    RuleRow{"RandomUniformLike", same},
    RuleRow{"Range", range},
    RuleRow{"Reciprocal", same},
    RuleRow{"ReduceL1", reduce},
    RuleRow{"ReduceL2", reduce},
    RuleRow{"ReduceLogSumExp", reduce},
    RuleRow{"ReduceMax", reduce},
    RuleRow{"ReduceMean", reduce},
    RuleRow{"ReduceMin", reduce},
    RuleRow{"ReduceProd", reduce},
    RuleRow{"ReduceSum", reduce},
    RuleRow{"ReduceSumSquare", reduce},
    RuleRow{"Relu", same},
    RuleRow{"Reshape", infer_reshape},
    RuleRow{"Resize", infer_resize},
    RuleRow{"RotaryEmbedding", same},
    RuleRow{"Round", same},
    RuleRow{"ScatterElements", same},
    RuleRow{"ScatterND", same},
    RuleRow{"Selu", same},
    RuleRow{"Shape", shape_of},
    RuleRow{"Sigmoid", same},
    RuleRow{"Sign", same},
    RuleRow{"Sin", same},
    RuleRow{"Size", size_of},
    RuleRow{"Slice", infer_slice},
    RuleRow{"Softmax", same},
    RuleRow{"Softplus", same},
    RuleRow{"Softsign", same},
    RuleRow{"SpaceToDepth", infer_space_to_depth},
    RuleRow{"Split", infer_split},
    RuleRow{"Sqrt", same},
    RuleRow{"Squeeze", infer_squeeze},
    RuleRow{"Sub", elementwise},
    RuleRow{"Sum", elementwise},
    RuleRow{"Swish", same},
    RuleRow{"Tan", same},
    RuleRow{"Tanh", same},
    RuleRow{"ThresholdedRelu", same},
    RuleRow{"Tile", infer_tile},
    RuleRow{"TopK", top_k},
    RuleRow{"Transpose", infer_transpose},
    RuleRow{"Trilu", same},
    RuleRow{"Unsqueeze", infer_unsqueeze},
    RuleRow{"Where", where},
    RuleRow{"Xor", compare},
    // Of com.microsoft, which ONNX Runtime's tools write without a domain as well.
    RuleRow{"SimplifiedLayerNormalization", normalize},
};

constexpr std::array kMicrosoft{
    RuleRow{"Attention", infer_packed_attention},
    RuleRow{"BiasGelu", same},
    RuleRow{"DequantizeLinear", same},
    RuleRow{"EmbedLayerNormalization", embed_normalize},
    RuleRow{"FastGelu", same},
    RuleRow{"FusedMatMul", infer_matmul},
    RuleRow{"GatherBlockQuantized", infer_gather},
    RuleRow{"Gelu", same},
    RuleRow{"GroupQueryAttention", infer_grouped_attention},
    RuleRow{"MatMulNBits", infer_matmul_bits},
    RuleRow{"MoE", experts},
    RuleRow{"MultiHeadAttention", infer_multi_head_attention},
    RuleRow{"QMoE", experts},
    RuleRow{"QuickGelu", same},
    RuleRow{"RotaryEmbedding", same},
    RuleRow{"SimplifiedLayerNormalization", normalize},
    RuleRow{"SkipLayerNormalization", skip_normalize},
    RuleRow{"SkipSimplifiedLayerNormalization", skip_normalize},
};

}  // namespace

ShapeRule find_shape_rule(const OnnxNode& node) {
  const auto in = [&](const auto& table) -> ShapeRule {
    const auto* const at = std::ranges::find_if(table, [&](const RuleRow& row) { return row.op == node.op; });
    return at == table.end() ? nullptr : at->rule;
  };
  if (node.domain.empty()) return in(kOwn);
  if (node.domain == "com.microsoft") return in(kMicrosoft);
  return nullptr;
}

}  // namespace nest::model
