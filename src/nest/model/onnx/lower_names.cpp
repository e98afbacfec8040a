#include "nest/model/onnx/lower_names.hpp"

#include <algorithm>
#include <set>

namespace nest::model {
namespace {

class Namer {
 public:
  Namer(const Flow& flow, const FlowAxes& axes, const FlowLayer& layer, OnnxValueId memory)
      : flow_(flow), axes_(axes), memory_(memory), inside_(layer.ops.begin(), layer.ops.end()) {}

  std::map<std::size_t, std::string> run() {
    for (const std::size_t i : inside_) {
      if (flow_.ops[i].kind == FlowKind::attention) name_attention(i);
    }
    for (const std::size_t i : inside_) {
      const FlowOp& op = flow_.ops[i];
      const bool inner = op.kind == FlowKind::product && !op.in.empty() &&
                         axes_.features(op.in[0]).front().axis == Axis::ffn;
      if (inner) name_inner(i);
    }
    return std::move(names_);
  }

 private:
  [[nodiscard]] std::size_t maker_of(OnnxValueId v) const {
    const std::size_t i = flow_.maker_index(v);
    return i != Flow::kNobody && inside_.contains(i) ? i : kNone;
  }
  void set(std::size_t i, const std::string& name) { names_.try_emplace(i, name); }

  // Back from a query, key or value: its norm, its rotary positions, and the product.
  std::size_t product_of(OnnxValueId v, const std::string& norm) {
    for (std::size_t i = maker_of(v); i != kNone; i = maker_of(flow_.ops[i].in[0])) {
      const FlowOp& op = flow_.ops[i];
      if (op.kind == FlowKind::product) return i;
      if (op.kind == FlowKind::norm) set(i, norm);
      if (op.kind == FlowKind::rotary) set(i, "rotary");
      if (op.in.empty()) break;
    }
    return kNone;
  }

  void name_attention(std::size_t i) {
    const FlowOp& op = flow_.ops[i];
    const std::size_t q = product_of(op.in[0], "q_norm");
    const std::size_t k = product_of(op.in[1], "k_norm");
    const std::size_t v = product_of(op.in[2], "v_norm");
    const auto input_of = [&](std::size_t p) { return p == kNone ? kNoValue : flow_.ops[p].in[0]; };
    const bool cross = memory_ != kNoValue && input_of(k) == memory_;
    const std::string prefix = cross ? "cross_" : "";
    set(i, prefix + "attention");
    const bool together = input_of(q) == input_of(k) && input_of(q) == input_of(v);
    if (q != kNone) set(q, prefix + (together ? "qkv" : "q"));
    if (k != kNone) set(k, prefix + (together ? "qkv" : input_of(k) == input_of(v) ? "kv" : "k"));
    if (v != kNone) set(v, prefix + (together ? "qkv" : input_of(k) == input_of(v) ? "kv" : "v"));
    if (q != kNone) {
      const std::size_t before = maker_of(input_of(q));
      if (before != kNone && flow_.ops[before].kind == FlowKind::norm)
        set(before, cross ? "cross_norm" : "attention_norm");
    }
    // On to the product that takes the heads together, and to the sum.
    follow(op.out[0], prefix + "output", cross ? "cross_add" : "attention_add");
  }

  void follow(OnnxValueId v, const std::string& product, const std::string& sum) {
    constexpr int kMostSteps = 20;
    for (int n = 0; n < kMostSteps; ++n) {
      if (flow_.users(v).size() != 1) return;
      const std::size_t i = flow_.users(v).front();
      if (!inside_.contains(i)) return;
      const FlowOp& op = flow_.ops[i];
      if (op.kind == FlowKind::add) return set(i, sum);
      if (op.kind == FlowKind::product) set(i, product);
      if (op.out.size() != 1 || op.kind == FlowKind::attention) return;
      v = op.out[0];
    }
  }

  // From the product that leaves the inside of a feed-forward back to those that enter it.
  void name_inner(std::size_t down) {
    const FlowOp& op = flow_.ops[down];
    set(down, "down");
    std::vector<OnnxValueId> left{op.in[0]};
    std::vector<std::size_t> into;
    std::set<std::size_t> met;
    bool gated = false;
    while (!left.empty()) {
      const std::size_t i = maker_of(left.back());
      left.pop_back();
      if (i == kNone || !met.insert(i).second) continue;
      const FlowOp& one = flow_.ops[i];
      if (one.kind == FlowKind::product) {
        into.push_back(i);
        continue;
      }
      set(i, "activation");
      gated = gated || one.in.size() > 1;
      left.insert(left.end(), one.in.begin(), one.in.end());
    }
    for (const std::size_t i : into) {
      set(i, gated ? "gate_up" : "up");
      const std::size_t before = maker_of(flow_.ops[i].in[0]);
      if (before != kNone && flow_.ops[before].kind == FlowKind::norm) set(before, "ffn_norm");
    }
    follow(op.out[0], "down", "ffn_add");
  }

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  const Flow& flow_;
  const FlowAxes& axes_;
  OnnxValueId memory_;
  std::set<std::size_t> inside_;
  std::map<std::size_t, std::string> names_;
};

}  // namespace

std::map<std::size_t, std::string> part_names(const Flow& flow, const FlowAxes& axes, const FlowLayer& layer,
                                              OnnxValueId memory) {
  return Namer(flow, axes, layer, memory).run();
}

std::string result_name(const Flow& flow, const FlowLayer& layer, OnnxValueId value,
                        const std::string& product) {
  OnnxValueId v = value;
  constexpr int kMostSteps = 10;
  for (int n = 0; n < kMostSteps && flow.users(v).size() == 1; ++n) {
    const std::size_t i = flow.users(v).front();
    if (!std::ranges::binary_search(layer.ops, i)) break;
    const FlowOp& op = flow.ops[i];
    if (op.kind == FlowKind::attention) return v == op.in[0] ? "q" : v == op.in[1] ? "k" : "v";
    if (op.kind == FlowKind::gate) return v == op.in[0] ? "gate" : "up";
    const bool on = op.kind == FlowKind::norm || op.kind == FlowKind::rotary ||
                    (op.kind == FlowKind::pass && op.in.size() == 1);
    if (!on || op.out.size() != 1) break;
    v = op.out[0];
  }
  return product == "output" ? "attention_result" : product == "down" ? "ffn_result" : product;
}

}  // namespace nest::model
