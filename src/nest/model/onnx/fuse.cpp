#include "nest/model/onnx/fuse.hpp"

#include <set>

namespace nest::model {
namespace {

// A weight that a pass multiplies or adds, if it is one number for each feature.
const FlowWeight* vector_of(const FlowOp& op, const Flow& flow, std::vector<FlowWeight>& found) {
  found = op.weights;
  for (const OnnxValueId v : op.side) {
    for (FlowWeight& w : weights_behind(flow, v)) found.push_back(std::move(w));
  }
  return found.size() == 1 && long_axes(found[0].dims) == 1 ? found.data() : nullptr;
}

}  // namespace

std::vector<FlowWeight> weights_behind(const Flow& flow, OnnxValueId value) {
  constexpr std::size_t kMost = 1'000;
  const OnnxGraph& graph = flow.graph();
  std::vector<FlowWeight> found;
  std::vector<OnnxValueId> left{value};
  std::set<OnnxValueId> seen;
  while (!left.empty() && seen.size() < kMost) {
    const OnnxValueId v = left.back();
    left.pop_back();
    if (v >= graph.values.size() || !seen.insert(v).second) continue;
    if (const std::optional<std::size_t> tensor = flow.tensor_of(v)) {
      const OnnxTensor& t = graph.tensors[*tensor];
      if (is_real_type(t.type) && t.elements() > 1 && !is_square(t.dims)) found.push_back({*tensor, t.dims});
      continue;
    }
    const OnnxNode* node = flow.node_of(v);
    if (node == nullptr || node->op == "Sin" || node->op == "Cos" || node->op == "Shape" ||
        node->op == "Size")
      continue;
    for (const OnnxValueId in : node->inputs) {
      if (in != kNoValue) left.push_back(in);
    }
  }
  return found;
}

bool is_square(const OnnxShape& d) {
  return d.size() > 2 && d[d.size() - 1] == d[d.size() - 2] && d.back() > 1;
}

void join_norm_weights(Flow& flow) {
  for (std::size_t i = 0; i < flow.ops.size(); ++i) {
    FlowOp& norm = flow.ops[i];
    if (!norm.alive || norm.kind != FlowKind::norm || norm.out.size() != 1) continue;
    for (const char* word : {"Mul", "Add"}) {
      FlowOp* next = flow.only_user(norm.out[0]);
      std::vector<FlowWeight> found;
      if (next == nullptr || next->op != word || next->kind != FlowKind::pass || next->in.size() != 1 ||
          next->parts.size() != 1)
        break;
      const FlowWeight* weight = vector_of(*next, flow, found);
      const bool bias = word[0] == 'A';
      if (weight == nullptr || norm.weights.size() != (bias ? 1 : 0)) break;
      norm.weights.push_back(*weight);
      norm.out = next->out;
      flow.set_maker(norm.out[0], i);
      next->alive = false;
    }
  }
  flow.tidy();
}

void join_gates(Flow& flow) {
  for (std::size_t i = 0; i < flow.ops.size(); ++i) {
    FlowOp& gate = flow.ops[i];
    if (gate.kind != FlowKind::pass || gate.op != "Mul" || gate.in.size() != 2 || gate.parts.size() != 1)
      continue;
    for (std::size_t side = 0; side < 2; ++side) {
      FlowOp* act = flow.maker(gate.in[side]);
      const bool activates = act != nullptr && act->alive && act->kind == FlowKind::pass &&
                             act->in.size() == 1 && act->pass == OperatorKind::gelu &&
                             flow.only_user(act->out[0]) == &gate;
      if (!activates || flow.elements(gate.in[0]) != flow.elements(gate.in[1])) continue;
      gate.kind = FlowKind::gate;
      gate.pass = act->silu ? OperatorKind::swiglu : OperatorKind::geglu;
      gate.parts.insert(act->parts.begin(), act->parts.end());
      gate.weights = act->weights;
      const OnnxValueId up = gate.in[1 - side];
      gate.in = gate.read = {act->in[0], up};
      act->alive = false;
      break;
    }
  }
  flow.tidy();
}

void keep_parameters(Flow& flow) {
  for (FlowOp& op : flow.ops) {
    const bool passes = op.kind == FlowKind::pass || op.kind == FlowKind::join || op.kind == FlowKind::cut ||
                        op.kind == FlowKind::gate || op.kind == FlowKind::add;
    if (!passes) continue;
    for (const OnnxValueId v : op.side) {
      for (FlowWeight& w : weights_behind(flow, v)) op.weights.push_back(std::move(w));
    }
    op.side.clear();
    const bool adds = op.op == "Add" || op.op == "Sub" || op.kind == FlowKind::join;
    std::erase_if(op.weights, [&](const FlowWeight& w) {
      const OnnxTensor& tensor = flow.graph().tensors[w.tensor];
      if (!is_real_type(tensor.type) || is_square(w.dims)) return true;
      // What is multiplied by is a parameter where it is one number for each feature: sines differ by position.
      return long_axes(w.dims) > 1 && !adds;
    });
  }
}

void fuse_flow(Flow& flow, MaskReader& masks) {
  flow.tidy();
  settle_nodes(flow, masks);
  settle_products(flow);
  join_biases(flow);
  join_regions(flow, false);
  join_attention(flow, masks);
  join_regions(flow, true);
  join_norm_weights(flow);
  split_products(flow);
  join_biases(flow);
  join_gates(flow);
  keep_parameters(flow);
}

}  // namespace nest::model
