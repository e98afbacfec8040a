#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/model/onnx/lower.hpp"

// The operators that become several steps, or one step for several of them: convolutions, rotary positions, products of
// two values, and mixtures of experts.
namespace nest::model {

// Windows laid out as rows, and a product.
void Lowering::lower_convolution(const FlowOp& op) {
  const Now own = now(op.in[0]);
  const FlowPositions to = axes_.positions(op.out[0]);
  std::string from = own.name;
  const std::int64_t window = op.contract / std::max<std::int64_t>(1, elements(own.features));
  if (!(to == own.positions)) {
    StepSpec s = step(StepSpec::Kind::take, "conv_positions", {from});
    s.to = {{fresh("taken"), own.features}};
    move(s, own.positions, to, op);
    from = s.to[0].name;
    out_.push_back(std::move(s));
  }
  if (window > 1) {
    StepSpec s = step(StepSpec::Kind::fold, "conv_windows", {from});
    s.window = window;
    s.to = {{fresh("windows"), {}}};
    from = s.to[0].name;
    out_.push_back(std::move(s));
  }
  StepSpec s = step(StepSpec::Kind::linear, "conv", {from});
  s.bias = op.bias;
  s.tied = !weights_.seen.insert(op.weights[0].tensor).second;
  s.to = {{fresh("conv"), axes_.features(op.out[0])}};
  push(std::move(s), op.out);
}

// Queries and keys of one attention are turned at once.
void Lowering::lower_rotary(std::size_t i) {
  const FlowOp& op = flow_.ops[i];
  std::vector<std::size_t> both{i};
  for (const std::uint32_t user : flow_.users(op.out[0])) {
    const FlowOp& attention = flow_.ops[user];
    if (attention.kind != FlowKind::attention) continue;
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
      const std::size_t other = flow_.maker_index(attention.in[k]);
      if (other == Flow::kNobody || other == i || flow_.ops[other].kind != FlowKind::rotary) continue;
      // The later one takes the earlier one along.
      if (other > i) {
        waiting_.insert(i);
        return;
      }
      if (waiting_.contains(other)) both.insert(both.begin(), other);
    }
  }
  std::vector<std::string> from;
  std::vector<OnnxValueId> made;
  StepSpec s = step(StepSpec::Kind::pass, part(i, "rotary"), {});
  s.pass = OperatorKind::rotary;
  for (const std::size_t k : both) {
    const FlowOp& one = flow_.ops[k];
    from.push_back(arranged(one.in[0], axes_.features(one.out[0]), one));
    s.to.push_back({fresh(from.back() + "_turned"), axes_.features(one.out[0])});
    made.push_back(one.out[0]);
  }
  s.from = std::move(from);
  push(std::move(s), made);
}

// Products of two values have no operator of ours: their work and bytes are those of a scan that no strategy cuts.
void Lowering::lower_scan(const FlowOp& op) {
  StepSpec s = step(StepSpec::Kind::scan, "product", {});
  for (const OnnxValueId v : op.in) s.from.push_back(now(v).name);
  const OnnxValueId made = op.out[0];
  s.to = {{fresh("made"), axes_.features(made)}};
  const FlowPositions p = axes_.positions(made);
  const auto flops = [&](bool second) {
    const std::int64_t positions = second ? p.second : p.first;
    return 2.0 * axes_.contract(op, second) * axes_.amount(made, second) /
           static_cast<double>(positions * flow_.batch);
  };
  if (std::abs(flops(false) - flops(true)) > 0.5) {
    throw InputError(flow_.graph().file, "operator '" + op.op + "'",
                     "its work for a token grows with the sequence, and it is no attention that is known");
  }
  s.flops = static_cast<std::int64_t>(std::min(flops(false), 1e17));
  hold(s, op.weights, axes_.features(made));
  push(std::move(s), op.out);
}

// com.microsoft's: what comes in, the scores of experts, and two or three weights stacked over experts.
void Lowering::lower_experts(const FlowOp& op) {
  const OnnxNode& node = flow_.graph().nodes[op.node];
  const bool packed = node.op == "QMoE";
  std::vector<const FlowWeight*> stacked;
  for (const FlowWeight& w : op.weights) {
    // Weights in few bits have scales beside them.
    const bool real = is_real_type(flow_.graph().tensors[w.tensor].type);
    if (w.dims.size() == 3 && real != packed) stacked.push_back(&w);
  }
  const FlowOp* router = op.in.size() > 1 ? flow_.maker(op.in[1]) : nullptr;
  if (stacked.size() < 2 || router == nullptr || router->kind != FlowKind::product ||
      router->in[0] != op.in[0])
    throw InputError(flow_.graph().file, "operator '" + op.op + "'",
                     "its experts have no router that is known");
  ExpertsSpec e;
  const std::int64_t hidden = axes_.width(op.in[0]);
  e.experts = stacked[0]->dims[0];
  e.top_k = std::clamp<std::int64_t>(node.whole_or("k", 1), 1, e.experts);
  const std::int64_t bits =
      packed ? std::clamp<std::int64_t>(node.whole_or("expert_weight_bits", 4), 1, 8) : 8;
  // The second product makes the residual stream's width of the experts'.
  const std::int64_t values = stacked[1]->dims[1] * stacked[1]->dims[2] * (8 / bits);
  e.ffn = std::max<std::int64_t>(1, values / hidden);
  e.router_bias = router->bias;
  e.expert_bias = node.reads(packed ? 4 : 3);
  const OnnxAttribute* kind = node.find("activation_type");
  const std::string word = kind == nullptr ? "relu" : kind->text;
  const bool gated = stacked.size() > 2 || word == "swiglu";
  activation_ = gated ? Activation::swiglu : word == "relu" ? Activation::relu : Activation::gelu;
  experts_ = e;
  for (const FlowWeight* w : stacked) weights_.seen.insert(w->tensor);
  StepSpec s = step(StepSpec::Kind::experts, "experts", {now(op.in[0]).name});
  s.to = {{fresh("expert_result"), {}}};
  push(std::move(s), op.out);
}

}  // namespace nest::model
