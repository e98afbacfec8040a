#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/model/onnx/fuse.hpp"
#include "nest/model/onnx/onnx_messages.hpp"

namespace nest::model {
namespace {

constexpr std::int64_t kMostHeads = 1'000'000;
constexpr std::int64_t kLongestWindow = 1'000'000'000;

class Nodes {
 public:
  Nodes(Flow& flow, MaskReader& masks) : flow_(flow), masks_(masks) {}

  void run() {
    for (FlowOp& op : std::exchange(flow_.ops, {})) settle(std::move(op));
    flow_.tidy();
  }

 private:
  [[nodiscard]] const OnnxNode& node_of(const FlowOp& op) const { return flow_.graph().nodes[op.node]; }

  void settle(FlowOp op) {
    switch (op.kind) {
      case FlowKind::norm:
        settle_norm(op);
        break;
      case FlowKind::rotary:
        op.weights.clear();
        op.in.resize(std::min<std::size_t>(1, op.in.size()));
        op.read.resize(op.in.size());
        break;
      case FlowKind::attention:
        return settle_attention(std::move(op));
      default:
        break;
    }
    flow_.ops.push_back(std::move(op));
  }

  void settle_norm(FlowOp& op) const {
    const bool rms = op.op.find("RMS") != std::string::npos || op.op.find("Simplified") != std::string::npos;
    // Means and variances of a batch norm are no parameters; a norm that adds first has a bias for the sum.
    const std::size_t most = rms ? 1 : 2;
    if (op.weights.size() > most) op.weights.resize(most);
    op.norm = rms                      ? NormKind::rms
              : op.weights.size() == 2 ? NormKind::layer
              : op.weights.size() == 1 ? NormKind::layer_weight
                                       : NormKind::bare;
  }

  void settle_attention(FlowOp op) {
    const OnnxNode& node = node_of(op);
    if (node.op == "Attention" && node.domain.empty())
      own(std::move(op), node);
    else if (node.op == "Attention")
      packed(std::move(op), node);
    else
      runtime(std::move(op), node);
  }

  // Cuts [.., n] into parts of so many features.
  std::vector<OnnxValueId> cut(OnnxValueId whole, const std::vector<std::int64_t>& sizes,
                               const FlowOp& like) {
    FlowOp op;
    op.kind = FlowKind::cut;
    op.op = "Split";
    op.parts = {"Split"};
    op.node = like.node;
    op.in = op.read = {whole};
    // A copy: new values move the shapes of all others.
    const OnnxShape shape = flow_.shape(whole);
    const int type = flow_.shapes()[whole].type;
    for (const std::int64_t n : sizes)
      op.out.push_back(flow_.fresh_value(OnnxShape{shape[0], shape[1], n}, type));
    std::vector<OnnxValueId> made = op.out;
    flow_.ops.push_back(std::move(op));
    return made;
  }

  OnnxValueId turn(OnnxValueId value, const FlowOp& like) {
    FlowOp op;
    op.kind = FlowKind::rotary;
    op.op = "RotaryEmbedding";
    op.parts = {op.op};
    op.node = like.node;
    op.in = op.read = {value};
    op.out = {flow_.fresh_value(value)};
    const OnnxValueId made = op.out[0];
    flow_.ops.push_back(std::move(op));
    return made;
  }

  void finish(FlowOp op, std::array<OnnxValueId, 3> qkv, std::int64_t heads, std::int64_t kv_heads,
              const std::vector<MaskUse>& uses) {
    FlowAttention& a = op.attention;
    const auto length = [&](OnnxValueId v) {
      const OnnxShape& s = flow_.shape(v);
      return s.size() == 4 ? s[2] : s.size() > 1 ? s[1] : 1;
    };
    const auto width = [&](OnnxValueId v, std::int64_t n) {
      const OnnxShape& s = flow_.shape(v);
      return s.size() == 4 ? s[3] : s.empty() ? 1 : s.back() / std::max<std::int64_t>(1, n);
    };
    a.heads = std::clamp<std::int64_t>(heads, 1, kMostHeads);
    a.kv_heads = std::clamp<std::int64_t>(kv_heads, 1, kMostHeads);
    a.queries = length(qkv[0]);
    a.keys = length(qkv[1]);
    a.key_dim = width(qkv[0], a.heads);
    a.value_dim = width(qkv[2], a.kv_heads);
    if (!uses.empty()) {
      const auto long_of = [&](OnnxValueId v, std::int64_t usual) {
        const bool known = v < masks_.shapes().size() && masks_.shapes()[v].shape;
        if (!known) return usual;
        const OnnxShape& s = *masks_.shapes()[v].shape;
        return s.size() == 4 ? s[2] : s.size() > 1 ? s[1] : usual;
      };
      const MaskFacts facts = read_mask(masks_, uses, long_of(op.read[0], a.queries),
                                        long_of(op.read.size() > 1 ? op.read[1] : op.read[0], a.keys));
      a.causal = a.causal || facts.causal;
      a.window = facts.window > 0 ? facts.window : a.window;
    }
    op.in = op.read = {qkv[0], qkv[1], qkv[2]};
    op.out.resize(1);
    flow_.ops.push_back(std::move(op));
  }

  [[nodiscard]] std::vector<MaskUse> mask_of(const OnnxNode& node, std::size_t input) const {
    if (!node.reads(input)) return {};
    const OnnxValueId v = node.inputs[input];
    return {{v, is_real_type(flow_.shapes()[v].type), true}};
  }

  void own(FlowOp op, const OnnxNode& node) {
    op.weights.clear();
    if (op.in.size() < 3) return flow_.ops.push_back(as_pass(std::move(op)));
    const OnnxShape& q = flow_.shape(op.read[0]);
    const OnnxShape& k = flow_.shape(op.read[1]);
    const std::int64_t heads = q.size() == 4 ? q[1] : node.whole_or("q_num_heads", 1);
    const std::int64_t kv_heads = k.size() == 4 ? k[1] : node.whole_or("kv_num_heads", heads);
    op.attention.causal = node.whole_or("is_causal", 0) != 0;
    // Keys and values are often repeated for groups of heads before.
    const std::array<OnnxValueId, 3> read{op.read[0], op.read[1], op.read[2]};
    const std::array<OnnxValueId, 3> roots{op.in[0], op.in[1], op.in[2]};
    const std::int64_t repeats = std::max<std::int64_t>(
        1, flow_.elements(read[1]) / std::max<std::int64_t>(1, flow_.elements(roots[1])));
    finish(std::move(op), read, heads, kv_heads, mask_of(node, 3));
    FlowOp& made = flow_.ops.back();
    made.in = {roots[0], roots[1], roots[2]};
    made.attention.kv_heads = std::max<std::int64_t>(1, kv_heads / repeats);
    // The width of a head follows from what was read, which has all of them.
    if (flow_.shape(read[2]).size() != 4)
      made.attention.value_dim = flow_.shape(read[2]).back() / std::max<std::int64_t>(1, kv_heads);
  }

  // com.microsoft's Attention: the product that makes queries, keys and values is in it.
  void packed(FlowOp op, const OnnxNode& node) {
    if (op.weights.empty() || op.in.empty() || op.weights[0].dims.size() != 2)
      return flow_.ops.push_back(as_pass(std::move(op)));
    const OnnxShape in = flow_.shape(op.read[0]);
    if (in.size() != 3) fail(node, "what it reads has not the axes batch, sequence and features");
    const std::int64_t all = op.weights[0].dims[1];
    std::vector<std::int64_t> sizes{all / 3, all / 3, all - 2 * (all / 3)};
    if (const OnnxAttribute* given = node.find("qkv_hidden_sizes");
        given != nullptr && given->wholes.size() == 3)
      sizes = given->wholes;
    const bool whole = std::ranges::all_of(sizes, [&](std::int64_t n) { return n >= 1 && n <= all; });
    if (!whole || sizes[0] + sizes[1] + sizes[2] != all)
      fail(node, "its queries, keys and values are not as wide as its weight");
    FlowOp product;
    product.kind = FlowKind::product;
    product.op = "MatMul";
    product.parts = {"MatMul"};
    product.node = op.node;
    product.in = product.read = {op.in[0]};
    product.weights.assign(op.weights.begin(), op.weights.begin() + 1);
    product.contract = op.weights[0].dims[0];
    if (op.weights.size() > 1 && op.weights[1].dims == OnnxShape{all}) {
      product.weights.push_back(op.weights[1]);
      product.bias = true;
    }
    for (const std::int64_t n : sizes)
      product.out.push_back(flow_.fresh_value({in[0], in[1], n}, flow_.shapes()[op.in[0]].type));
    const std::array<OnnxValueId, 3> qkv{product.out[0], product.out[1], product.out[2]};
    product.settled = true;
    flow_.ops.push_back(std::move(product));
    op.weights.clear();
    op.attention.causal = node.whole_or("unidirectional", 0) != 0;
    const std::int64_t heads = node.whole_or("num_heads", 1);
    finish(std::move(op), qkv, heads, heads, {});
  }

  // com.microsoft's MultiHeadAttention and GroupQueryAttention: queries, keys and values, or all in the first.
  void runtime(FlowOp op, const OnnxNode& node) {
    const bool grouped = node.op == "GroupQueryAttention";
    const std::int64_t heads = std::clamp<std::int64_t>(node.whole_or("num_heads", 1), 1, kMostHeads);
    const std::int64_t kv_heads =
        grouped ? std::clamp<std::int64_t>(node.whole_or("kv_num_heads", heads), 1, kMostHeads) : heads;
    std::vector<FlowWeight> biases;
    if (!grouped && op.weights.size() == 1 && node.reads(3)) biases = op.weights;
    op.weights = std::move(biases);
    op.attention.causal = grouped || node.whole_or("unidirectional", 0) != 0;
    op.attention.window = std::clamp<std::int64_t>(node.whole_or("local_window_size", 0), 0, kLongestWindow);
    std::array<OnnxValueId, 3> qkv{};
    if (op.in.empty()) return flow_.ops.push_back(as_pass(std::move(op)));
    if (op.in.size() >= 3) {
      qkv = {op.in[0], op.in[1], op.in[2]};
    } else {
      const OnnxShape& whole = flow_.shape(op.read[0]);
      if (whole.size() < 3 || flow_.shape(op.in[0]).size() < 2)
        fail(node, "what it reads has not the axes batch, sequence and features");
      const std::int64_t width = flow_.elements(op.read[0]) / std::max<std::int64_t>(1, whole[0] * whole[1]);
      const std::int64_t each = width / (heads + 2 * kv_heads);
      if (each < 1) fail(node, "its heads do not divide what it reads");
      const std::vector<OnnxValueId> parts =
          cut(op.in[0], {heads * each, kv_heads * each, kv_heads * each}, op);
      qkv = {parts[0], parts[1], parts[2]};
    }
    if (grouped && node.whole_or("do_rotary", 0) != 0) {
      qkv[0] = turn(qkv[0], op);
      qkv[1] = turn(qkv[1], op);
    }
    finish(std::move(op), qkv, heads, kv_heads, grouped ? std::vector<MaskUse>{} : mask_of(node, 5));
  }

  [[noreturn]] void fail(const OnnxNode& node, const std::string& what) const {
    throw InputError(flow_.graph().file, "operator " + quoted_name(node.op), what);
  }

  static FlowOp as_pass(FlowOp op) {
    op.kind = FlowKind::pass;
    return op;
  }

  Flow& flow_;
  MaskReader& masks_;
};

}  // namespace

void settle_nodes(Flow& flow, MaskReader& masks) {
  Nodes(flow, masks).run();
}

}  // namespace nest::model
