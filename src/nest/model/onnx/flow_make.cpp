#include <algorithm>
#include <array>
#include <string_view>

#include "nest/base/error.hpp"
#include "nest/model/onnx/flow.hpp"

namespace nest::model {
namespace {

constexpr std::array<std::string_view, 13> kViews{
    "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity",         "Cast",          "CastLike",
    "Dropout", "Expand",  "Tile",    "Transpose", "DequantizeLinear", "QuantizeLinear"};

struct FlowWord {
  std::string_view op;
  FlowKind kind;
};
// What is not here works element by element.
constexpr std::array kFlowWords{FlowWord{"MatMul", FlowKind::product},
                                FlowWord{"Gemm", FlowKind::product},
                                FlowWord{"FusedMatMul", FlowKind::product},
                                FlowWord{"MatMulNBits", FlowKind::product},
                                FlowWord{"Einsum", FlowKind::product},
                                FlowWord{"Conv", FlowKind::convolution},
                                FlowWord{"LayerNormalization", FlowKind::norm},
                                FlowWord{"RMSNormalization", FlowKind::norm},
                                FlowWord{"SimplifiedLayerNormalization", FlowKind::norm},
                                FlowWord{"BatchNormalization", FlowKind::norm},
                                FlowWord{"GroupNormalization", FlowKind::norm},
                                FlowWord{"InstanceNormalization", FlowKind::norm},
                                FlowWord{"Softmax", FlowKind::softmax},
                                FlowWord{"Attention", FlowKind::attention},
                                FlowWord{"MultiHeadAttention", FlowKind::attention},
                                FlowWord{"GroupQueryAttention", FlowKind::attention},
                                FlowWord{"RotaryEmbedding", FlowKind::rotary},
                                FlowWord{"MoE", FlowKind::experts},
                                FlowWord{"QMoE", FlowKind::experts},
                                FlowWord{"Slice", FlowKind::cut},
                                FlowWord{"Split", FlowKind::cut},
                                FlowWord{"Gather", FlowKind::cut},
                                FlowWord{"GatherElements", FlowKind::cut},
                                FlowWord{"GatherND", FlowKind::cut},
                                FlowWord{"TopK", FlowKind::reduce},
                                FlowWord{"ArgMax", FlowKind::reduce},
                                FlowWord{"ArgMin", FlowKind::reduce},
                                FlowWord{"AveragePool", FlowKind::reduce},
                                FlowWord{"MaxPool", FlowKind::reduce},
                                FlowWord{"GlobalAveragePool", FlowKind::reduce},
                                FlowWord{"GlobalMaxPool", FlowKind::reduce},
                                FlowWord{"Concat", FlowKind::join}};

bool is_view(const std::string& op) {
  return std::ranges::find(kViews, op) != kViews.end();
}

// Masks, positions and kept keys come in beside what the model works on.
bool comes_beside(const std::string& name) {
  return has_part(name, {"mask", "position", "past", "cache", "seqlens", "total_seq", "bias"});
}

class FlowMaker {
 public:
  FlowMaker(const OnnxGraph& graph, const OnnxShapes& shapes, std::int64_t batch)
      : graph_(graph),
        shapes_(shapes),
        flow_(graph, shapes, batch),
        data_(graph.values.size(), false),
        tokens_(graph.values.size(), false),
        root_(graph.values.size()),
        weight_(graph.values.size(), kNoWeight) {}

  Flow make() {
    for (OnnxValueId v = 0; v < root_.size(); ++v) root_[v] = v;
    for (std::size_t i = 0; i < graph_.tensors.size(); ++i) {
      const OnnxTensor& t = graph_.tensors[i];
      const OnnxValueId v = graph_.tensor_values[i];
      // A single number is a constant; whole numbers are weights where they hold real ones in fewer bits.
      const bool packed = is_whole_type(t.type) && t.type != kOnnxBool && bits_of_type(t.type) <= 8;
      const bool can = is_real_type(t.type) || (packed && t.dims.size() > 1);
      if (v != kNoValue && t.elements() > 1 && can) weight_[v] = i;
    }
    begin();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) add(i);
    end();
    return std::move(flow_);
  }

 private:
  static constexpr std::size_t kNoWeight = static_cast<std::size_t>(-1);

  void begin() {
    bool any = false;
    for (const OnnxDeclared& input : graph_.inputs) {
      if (!is_whole_type(input.type) || comes_beside(graph_.values[input.value]) ||
          has_part(graph_.values[input.value], {"type", "segment"}))
        continue;
      tokens_[input.value] = any = true;
    }
    for (const OnnxDeclared& input : graph_.inputs) {
      const bool beside = comes_beside(graph_.values[input.value]);
      if (!any && is_whole_type(input.type)) tokens_[input.value] = true;
      if (!is_real_type(input.type) || beside) continue;
      data_[input.value] = true;
      FlowOp op;
      op.kind = FlowKind::source;
      op.op = "input";
      op.out = {input.value};
      flow_.ops.push_back(std::move(op));
    }
  }

  [[nodiscard]] bool has_elements(OnnxValueId v) const {
    const OnnxInferred& known = shapes_[v];
    return !known.shape || std::ranges::find(*known.shape, 0) == known.shape->end();
  }
  [[nodiscard]] bool same_elements(OnnxValueId a, OnnxValueId b) const {
    return shapes_[a].shape && shapes_[b].shape && shapes_[a].elements() == shapes_[b].elements();
  }
  // A table of numbers by row.
  [[nodiscard]] bool is_table(OnnxValueId v) const {
    return weight_[v] != kNoWeight && shapes_[v].shape && shapes_[v].shape->size() == 2;
  }

  void add(std::size_t index) {
    const OnnxNode& node = graph_.nodes[index];
    if (node.op == "Shape" || node.op == "Size" || node.inputs.empty()) return;
    for (const OnnxValueId v : node.inputs) {
      for (const OnnxValueId out : node.outputs) {
        if (v != kNoValue && out != kNoValue && tokens_[v]) tokens_[out] = true;
      }
    }
    const bool by_row = node.op == "Gather" || node.op == "GatherBlockQuantized";
    if (by_row && node.reads(0) && node.reads(1) && is_table(node.inputs[0]) && tokens_[node.inputs[1]])
      return lookup(index, node.inputs[0], node.outputs[0]);
    if (node.op == "EmbedLayerNormalization") return embed(index);
    // Of a CastLike's second input only the type is read.
    const bool works = node.op == "CastLike" ? node.reads(0) && data_[node.inputs[0]]
                                             : std::ranges::any_of(node.inputs, [&](OnnxValueId v) {
                                                 return v != kNoValue && data_[v] && has_elements(v);
                                               });
    if (!works) return weigh(node);
    if (is_view(node.op) && node.reads(0) && data_[node.inputs[0]] && node.outputs[0] != kNoValue)
      return view(node.outputs[0], node.inputs[0]);
    work(index);
  }

  void view(OnnxValueId out, OnnxValueId in) {
    data_[out] = true;
    root_[out] = root_[in];
  }

  // A view of a weight is that weight.
  void weigh(const OnnxNode& node) {
    if (node.outputs.empty() || node.outputs[0] == kNoValue || !node.reads(0)) return;
    const OnnxValueId in = node.inputs[0];
    if (is_view(node.op) && weight_[in] != kNoWeight) weight_[node.outputs[0]] = weight_[in];
  }

  void lookup(std::size_t index, OnnxValueId table, OnnxValueId out) {
    if (out == kNoValue) return;
    FlowOp op = named(index, FlowKind::lookup);
    op.weights.push_back({weight_[table], *shapes_[table].shape});
    op.out = {out};
    data_[out] = true;
    flow_.ops.push_back(std::move(op));
  }

  FlowOp named(std::size_t index, FlowKind kind) const {
    FlowOp op;
    op.kind = kind;
    op.op = graph_.nodes[index].op;
    op.parts = {op.op};
    op.node = index;
    return op;
  }

  // com.microsoft's: ids, types, and the tables of words, positions and types, a norm's weights.
  void embed(std::size_t index) {
    const OnnxNode& node = graph_.nodes[index];
    if (!node.reads(0) || !node.reads(2) || !is_table(node.inputs[2]) || node.outputs[0] == kNoValue) return;
    const OnnxValueId out = node.outputs[0];
    lookup(index, node.inputs[2], out);
    FlowOp& op = flow_.ops.back();
    for (std::size_t i = 3; i < 7; ++i) {
      if (!node.reads(i) || weight_[node.inputs[i]] == kNoWeight) continue;
      op.weights.push_back({weight_[node.inputs[i]], flow_.shape(node.inputs[i])});
    }
    op.parts.insert("LayerNormalization");
  }

  void take(FlowOp& op, OnnxValueId v) const {
    if (v == kNoValue) return;
    if (data_[v] && has_elements(v)) {
      op.in.push_back(root_[v]);
      op.read.push_back(v);
    } else if (weight_[v] != kNoWeight) {
      op.weights.push_back({weight_[v], flow_.shape(v)});
    } else if (!data_[v]) {
      op.side.push_back(v);
    }
  }

  void work(std::size_t index) {
    const OnnxNode& node = graph_.nodes[index];
    if (!has_shape_rule(node))
      flow_.unknown.insert(node.domain.empty() ? node.op : node.domain + "." + node.op);
    const auto* const row =
        std::ranges::find_if(kFlowWords, [&](const FlowWord& r) { return r.op == node.op; });
    FlowKind kind = row == kFlowWords.end() ? FlowKind::pass : row->kind;
    if (node.op.starts_with("Reduce")) kind = FlowKind::reduce;
    FlowOp op = named(index, kind);
    for (const OnnxValueId v : node.inputs) take(op, v);
    for (const OnnxValueId v : node.outputs) {
      if (v == kNoValue) continue;
      data_[v] = true;
      op.out.push_back(v);
    }
    if (op.out.empty()) return;
    if (node.op == "SkipLayerNormalization" || node.op == "SkipSimplifiedLayerNormalization")
      return skip_norm(std::move(op), node);
    if (kind == FlowKind::join && op.in.size() == 1 && same_elements(op.read[0], op.out[0]))
      return view(op.out[0], op.read[0]);
    if (kind == FlowKind::cut && op.out.size() == 1 && op.in.size() == 1 &&
        same_elements(op.read[0], op.out[0]) && node.op != "Gather")
      return view(op.out[0], op.read[0]);
    const bool sum = node.op == "Add" || node.op == "Sub" || node.op == "Sum";
    if (sum && op.in.size() > 1 && op.weights.empty()) op.kind = FlowKind::add;
    if (kind == FlowKind::softmax || kind == FlowKind::norm) op.out.resize(1);
    flow_.ops.push_back(std::move(op));
  }

  // The sum comes out as result 3 where somebody wants it, and normalized as result 0.
  void skip_norm(FlowOp op, const OnnxNode& node) {
    FlowOp sum = op;
    sum.kind = FlowKind::add;
    sum.weights.clear();
    const bool wanted = node.outputs.size() > 3 && node.outputs[3] != kNoValue;
    // Where nobody does, the sum has no value of its own in the graph: the first input's stands for its shape.
    sum.out = {wanted ? node.outputs[3] : fresh_like(op.out[0])};
    if (op.in.size() < 2) sum.kind = FlowKind::pass;
    op.kind = FlowKind::norm;
    op.in = op.read = sum.out;
    op.out.resize(1);
    flow_.ops.push_back(std::move(sum));
    flow_.ops.push_back(std::move(op));
  }

  // A value of the graph that nobody uses otherwise: the statistics of a fused norm.
  OnnxValueId fresh_like(OnnxValueId like) {
    OnnxValueId v = flow_.fresh_value(like);
    data_.push_back(true);
    tokens_.push_back(false);
    root_.push_back(v);
    weight_.push_back(kNoWeight);
    return v;
  }

  void end() {
    for (const OnnxDeclared& output : graph_.outputs) {
      if (!data_[output.value] || has_part(graph_.values[output.value], {"present", "past_key"})) continue;
      flow_.outputs.push_back(root_[output.value]);
    }
    if (flow_.outputs.empty()) {
      throw InputError(graph_.file, "", "no output depends on tokens or on real numbers that come in",
                       "export the model with its input_ids or pixel_values as inputs");
    }
    flow_.tidy();
    // What others work on is no end of its own.
    std::erase_if(flow_.outputs, [&](OnnxValueId v) { return !flow_.users(v).empty(); });
    flow_.tidy();
  }

  const OnnxGraph& graph_;
  const OnnxShapes& shapes_;
  Flow flow_;
  std::vector<bool> data_;    // depends on what comes in
  std::vector<bool> tokens_;  // computed from token ids
  std::vector<OnnxValueId> root_;
  std::vector<std::size_t> weight_;
};

}  // namespace

Flow make_flow(const OnnxGraph& graph, const OnnxShapes& shapes, std::int64_t batch) {
  return FlowMaker(graph, shapes, batch).make();
}

}  // namespace nest::model
