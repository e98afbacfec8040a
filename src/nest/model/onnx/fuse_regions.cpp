#include <algorithm>

#include "nest/model/onnx/dominators.hpp"
#include "nest/model/onnx/fuse.hpp"

namespace nest::model {
namespace {

constexpr std::size_t kRoot = Dominators::kRoot;
constexpr std::size_t kLargestRegion = 400;

bool has_any(const FlowOp& op, std::initializer_list<const char*> words) {
  return std::ranges::any_of(words, [&](const char* w) { return op.has(w); });
}

// What an activation is by the operators that it was written in. Gates tell swiglu from geglu.
void classify_activation(FlowOp& op) {
  const bool gelu =
      has_any(op, {"Gelu", "FastGelu", "BiasGelu", "Erf"}) || (op.has("Tanh") && op.parts.size() > 1);
  const bool silu =
      has_any(op, {"Sigmoid", "QuickGelu", "Swish", "HardSwish", "Mish", "Softplus", "HardSigmoid"});
  if (gelu || (silu && (op.parts.size() > 1 || !op.has("Sigmoid")))) {
    op.pass = OperatorKind::gelu;
    op.silu = !gelu;
  } else if (has_any(op, {"Relu", "LeakyRelu", "Clip", "PRelu", "Elu", "Selu"})) {
    op.pass = OperatorKind::relu;
  } else if (op.has("Tanh")) {
    op.pass = OperatorKind::tanh;
  }
}

class Regions {
 public:
  Regions(Flow& flow, bool softmax) : flow_(flow), softmax_(softmax), dominators_(flow.ops.size()) {}

  void run() {
    flow_.index();
    for (std::size_t i = 0; i < flow_.ops.size(); ++i) {
      place(i);
      if (flow_.ops[i].in.size() > 1 && is_light(flow_.ops[i])) collapse(i);
      if (flow_.ops[i].kind == FlowKind::pass) classify_activation(flow_.ops[i]);
    }
    flow_.tidy();
  }

 private:
  // Whether it may be one of several operators that are put together.
  [[nodiscard]] bool is_light(const FlowOp& op) const {
    switch (op.kind) {
      case FlowKind::pass:
      case FlowKind::add:
      case FlowKind::cut:
      case FlowKind::join:
      case FlowKind::rotary:
        return true;
      case FlowKind::reduce:
        return over_features(op);
      case FlowKind::softmax:
        return softmax_;
      default:
        return false;
    }
  }
  // A mean over the last axis: one number for each position is left.
  [[nodiscard]] bool over_features(const FlowOp& op) const {
    if (!op.op.starts_with("Reduce") || op.read.size() != 1) return false;
    const OnnxShape& in = flow_.shape(op.read[0]);
    return !in.empty() && in.back() > 1 &&
           flow_.elements(op.read[0]) == flow_.elements(op.out[0]) * in.back();
  }

  void place(std::size_t i) {
    std::size_t at = kRoot;
    bool first = true;
    for (const OnnxValueId v : flow_.ops[i].in) {
      const std::size_t maker = maker_of(v);
      at = first ? maker : dominators_.common(at, maker);
      first = false;
    }
    dominators_.set(i, at);
  }
  [[nodiscard]] std::size_t maker_of(OnnxValueId v) const {
    const std::size_t maker = flow_.maker_index(v);
    return maker == Flow::kNobody ? kRoot : maker;
  }

  void collapse(std::size_t last) {
    const std::size_t from = dominators_.above(last);
    if (from == kRoot) return;
    std::set<std::size_t> region;
    std::set<OnnxValueId> in;
    if (!gather(last, from, region, in)) return;
    // Several parts of one value: what cuts it belongs to the region.
    if (in.size() > 1) {
      const FlowOp& cut = flow_.ops[from];
      if (cut.kind != FlowKind::cut || cut.in.size() != 1) return;
      region.insert(from);
      in = {cut.in[0]};
    }
    const OnnxValueId made = flow_.ops[last].out[0];
    const OnnxValueId start = *in.begin();
    if (flow_.elements(made) != flow_.elements(start) || !closed(region, last)) return;
    put_together(region, last, start);
  }

  // All operators on the way back to `from`; false where one of them is more than light.
  bool gather(std::size_t last, std::size_t from, std::set<std::size_t>& region,
              std::set<OnnxValueId>& in) const {
    std::vector<std::size_t> left{last};
    while (!left.empty()) {
      const std::size_t i = left.back();
      left.pop_back();
      if (!region.insert(i).second) continue;
      const FlowOp& op = flow_.ops[i];
      if (!op.alive || !is_light(op) || region.size() > kLargestRegion) return false;
      for (const OnnxValueId v : op.in) {
        const std::size_t maker = maker_of(v);
        if (maker == from)
          in.insert(v);
        else if (maker == kRoot)
          return false;
        else
          left.push_back(maker);
      }
    }
    return true;
  }
  // Nothing inside is used outside but the result.
  [[nodiscard]] bool closed(const std::set<std::size_t>& region, std::size_t last) const {
    for (const std::size_t i : region) {
      if (i == last) continue;
      for (const OnnxValueId v : flow_.ops[i].out) {
        if (flow_.is_output(v)) return false;
        for (const std::uint32_t user : flow_.users(v)) {
          if (flow_.ops[user].alive && !region.contains(user)) return false;
        }
      }
    }
    return flow_.ops[last].out.size() == 1;
  }

  void put_together(const std::set<std::size_t>& region, std::size_t last, OnnxValueId start) {
    FlowOp& op = flow_.ops[last];
    int means = 0;
    bool turns = false;
    bool moves = false;
    std::vector<FlowWeight> weights;
    std::vector<OnnxValueId> side;
    for (const std::size_t i : region) {
      FlowOp& one = flow_.ops[i];
      means += one.op == "ReduceMean" ? 1 : 0;
      turns = turns || one.kind == FlowKind::rotary || (one.op == "Mul" && varies(one));
      moves = moves || one.kind == FlowKind::cut || one.kind == FlowKind::join ||
              one.kind == FlowKind::rotary || one.has("Slice") || one.has("Concat") || one.has("Split");
      weights.insert(weights.end(), one.weights.begin(), one.weights.end());
      side.insert(side.end(), one.side.begin(), one.side.end());
      op.parts.insert(one.parts.begin(), one.parts.end());
      if (i != last) one.alive = false;
    }
    op.weights = std::move(weights);
    op.side = std::move(side);
    op.in = op.read = {start};
    op.kind = FlowKind::pass;
    dominators_.set(last, maker_of(start));
    flow_.add_user(start, last);
    const bool root = has_any(op, {"Sqrt", "Reciprocal", "Pow", "Div", "ReduceL2"});
    const bool sums = has_any(op, {"ReduceMean", "ReduceSum", "ReduceSumSquare", "ReduceL2"});
    if (sums && root && !op.has("Softmax")) {
      op.kind = FlowKind::norm;
      op.norm = means > 1 || op.has("Sub") || takes_mean_off(op) ? NormKind::layer : NormKind::rms;
    } else if (turns && moves) {
      op.kind = FlowKind::rotary;
      op.weights.clear();
    }
  }
  // x - mean(x) before the rest of a norm, which is then part of it.
  bool takes_mean_off(FlowOp& op) {
    FlowOp* before = flow_.maker(op.in[0]);
    if (before == nullptr || before->parts != std::set<std::string>{"ReduceMean", "Sub"}) return false;
    for (const std::uint32_t user : flow_.users(op.in[0])) {
      if (flow_.ops[user].alive && &flow_.ops[user] != &op) return false;
    }
    before->alive = false;
    op.in = op.read = before->in;
    flow_.add_user(op.in[0], static_cast<std::size_t>(&op - flow_.ops.data()));
    return true;
  }
  // Whether it multiplies by what differs from position to position.
  [[nodiscard]] bool varies(const FlowOp& op) const {
    const auto by_position = [](const OnnxShape& dims) { return long_axes(dims) > 1; };
    return std::ranges::any_of(
               op.side,
               [&](OnnxValueId v) { return flow_.shapes()[v].shape && by_position(flow_.shape(v)); }) ||
           std::ranges::any_of(op.weights, [&](const FlowWeight& w) { return by_position(w.dims); });
  }

  Flow& flow_;
  bool softmax_;
  Dominators dominators_;
};

}  // namespace

void join_regions(Flow& flow, bool softmax) {
  Regions(flow, softmax).run();
}

}  // namespace nest::model
