#include <algorithm>
#include <utility>

#include "nest/model/onnx/fuse.hpp"

namespace nest::model {
namespace {

// What lies between a softmax and its products, or scales queries and keys, is short.
constexpr int kMostSteps = 200;

// Products around a softmax.
class Pattern {
 public:
  Pattern(Flow& flow, MaskReader& masks, std::size_t softmax)
      : flow_(flow), masks_(masks), softmax_(softmax) {}

  void find() {
    if (!up() || !down()) return;
    FlowOp& last = flow_.ops[second_];
    const FlowOp& scores = flow_.ops[first_];
    const std::size_t chain = chain_input_;
    if (scores.in.size() != 2 || last.in.size() != 2 || chain > 1) return;
    FlowAttention a;
    const OnnxShape& square = flow_.shape(scores.out[0]);
    const OnnxShape& made = flow_.shape(last.out[0]);
    if (square.size() < 2 || made.size() < 2) return;
    const OnnxShape& left = flow_.shape(scores.read[0]);
    const OnnxShape& right = flow_.shape(scores.read[1]);
    if (left.empty() || right.empty()) return;
    a.queries = square[square.size() - 2];
    a.keys = square.back();
    a.key_dim = scores.contract;
    if (a.queries < 1 || a.keys < 1 || a.key_dim < 1) return;
    const std::int64_t all = flow_.elements(scores.out[0]) / (a.queries * a.keys);  // batch * heads
    a.value_dim = flow_.elements(last.out[0]) / std::max<std::int64_t>(1, all * a.queries);
    a.heads = std::max<std::int64_t>(1, all / flow_.batch);
    OnnxValueId q = scores.in[0];
    OnnxValueId k = scores.in[1];
    OnnxValueId v = last.in[1 - chain];
    q = through_scales(q);
    k = through_scales(k);
    a.kv_heads = flow_.elements(k) / a.keys / a.key_dim / flow_.batch;
    if (a.kv_heads < 1 || a.heads % a.kv_heads != 0) a.kv_heads = a.heads;
    if (!uses_.empty()) {
      const MaskFacts facts = read_mask(masks_, uses_, long_of(a.queries, true), long_of(a.keys, false));
      a.causal = facts.causal;
      a.window = facts.window;
    }
    last.kind = FlowKind::attention;
    last.attention = a;
    last.in = last.read = {q, k, v};
    last.weights = std::move(weights_);
    last.side.clear();
    last.parts.insert("Softmax");
    for (const std::size_t i : inside_) flow_.ops[i].alive = false;
    flow_.ops[first_].alive = flow_.ops[softmax_].alive = false;
    for (const OnnxValueId in : last.in) flow_.add_user(in, second_);
  }

 private:
  // From the softmax to the product of queries and keys.
  bool up() {
    OnnxValueId at = flow_.ops[softmax_].in.empty() ? kNoValue : flow_.ops[softmax_].in[0];
    for (int n = 0; at != kNoValue && n < kMostSteps; ++n) {
      const std::size_t i = flow_.maker_index(at);
      if (i == Flow::kNobody) return false;
      const FlowOp& op = flow_.ops[i];
      if (op.kind == FlowKind::batched) {
        first_ = i;
        scores_ = op.out[0];
        return true;
      }
      const bool simple = (op.kind == FlowKind::pass || op.kind == FlowKind::join ||
                           op.kind == FlowKind::norm || op.kind == FlowKind::cut) &&
                          op.in.size() == 1 && op.kind != FlowKind::norm;
      if (!simple) return false;
      note_masks(op);
      inside_.push_back(i);
      at = op.in[0];
    }
    return false;
  }

  // What is added to the scores or chooses among them.
  void note_masks(const FlowOp& op) {
    for (const FlowWeight& w : op.weights) {
      if (!is_square(w.dims)) weights_.push_back(w);
    }
    if (op.op == "Add" || op.op == "Where") {
      for (const OnnxValueId v : op.side) {
        for (FlowWeight& w : weights_behind(flow_, v)) weights_.push_back(std::move(w));
      }
    }
    const OnnxNode& node = flow_.graph().nodes[op.node];
    if (op.op == "Add") {
      for (const OnnxValueId v : node.inputs) {
        if (v != op.read[0]) uses_.push_back({v, true, true});
      }
    } else if (op.op == "Where" && node.reads(0) && node.inputs[0] != op.read[0]) {
      uses_.push_back({node.inputs[0], false, node.reads(1) && node.inputs[1] == op.read[0]});
    }
  }

  // From the softmax to the product with the values.
  bool down() {
    OnnxValueId at = flow_.ops[softmax_].out[0];
    for (int n = 0; n < kMostSteps; ++n) {
      const FlowOp* user = flow_.only_user(at);
      if (user == nullptr) return false;
      const auto i = static_cast<std::size_t>(user - flow_.ops.data());
      if (user->kind == FlowKind::batched) {
        second_ = i;
        chain_input_ = user->in.size() == 2 && user->in[0] == at ? 0 : 1;
        return user->in.size() == 2 && user->in[0] != user->in[1];
      }
      const bool simple =
          (user->kind == FlowKind::pass || user->kind == FlowKind::cut) && user->in.size() == 1;
      if (!simple || user->out.size() != 1) return false;
      inside_.push_back(i);
      at = user->out[0];
    }
    return false;
  }

  // Queries and keys are scaled by a number on their way, which kernels do.
  OnnxValueId through_scales(OnnxValueId v) {
    for (int n = 0; n < kMostSteps; ++n) {
      const FlowOp* maker = flow_.maker(v);
      const bool scale = maker != nullptr && maker->kind == FlowKind::pass && maker->in.size() == 1 &&
                         (maker->op == "Mul" || maker->op == "Div") && maker->weights.empty() &&
                         maker->parts.size() == 1 && flow_.only_user(v) != nullptr;
      if (!scale) return v;
      for (const OnnxValueId s : maker->side) {
        if (!flow_.shapes()[s].shape || flow_.elements(s) != 1) return v;
      }
      inside_.push_back(static_cast<std::size_t>(maker - flow_.ops.data()));
      v = maker->in[0];
    }
    return v;
  }

  // The masks may have been read for a longer sequence than the flow is of.
  [[nodiscard]] std::int64_t long_of(std::int64_t fallback, bool queries) const {
    const OnnxInferred& square = masks_.shapes()[flow_.graph().nodes[flow_.ops[first_].node].outputs[0]];
    if (!square.shape || square.shape->size() < 2) return fallback;
    return (*square.shape)[square.shape->size() - (queries ? 2 : 1)];
  }

  Flow& flow_;
  MaskReader& masks_;
  std::size_t softmax_;
  std::size_t first_ = 0;
  std::size_t second_ = 0;
  std::size_t chain_input_ = 0;
  OnnxValueId scores_ = kNoValue;
  std::vector<std::size_t> inside_;
  std::vector<FlowWeight> weights_;
  std::vector<MaskUse> uses_;
};

}  // namespace

void join_attention(Flow& flow, MaskReader& masks) {
  for (std::size_t i = 0; i < flow.ops.size(); ++i) {
    if (flow.ops[i].alive && flow.ops[i].kind == FlowKind::softmax) Pattern(flow, masks, i).find();
  }
  flow.tidy();
}

}  // namespace nest::model
