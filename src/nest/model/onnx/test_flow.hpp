// Shapes and flows of graphs that tests write.
#pragma once

#include "nest/model/onnx/flow.hpp"
#include "nest/model/onnx/fuse.hpp"
#include "nest/model/onnx/onnx_file.hpp"
#include "nest/model/onnx/test_onnx.hpp"

namespace nest::model::test {

struct TestGraph {
  explicit TestGraph(const std::string& bytes, OnnxRun run = {1, 48}) {
    ByteSource source = ByteSource::text("test.onnx", bytes);
    graph = read_onnx_graph(source);
    const OnnxSizes sizes(graph, {});
    shapes = infer_shapes(graph, sizes, run);
    if (sizes.has_sequence()) other = infer_shapes(graph, sizes, {run.batch, 2 * run.sequence});
    if (other.empty()) other = shapes;
  }

  [[nodiscard]] OnnxValueId value(const std::string& name) const {
    for (OnnxValueId v = 0; v < graph.values.size(); ++v) {
      if (graph.values[v] == name) return v;
    }
    return kNoValue;
  }
  [[nodiscard]] OnnxShape shape(const std::string& name) const {
    return shapes[value(name)].shape.value_or(OnnxShape{-1});
  }
  // A flow looks into the graph, which has to live on.
  [[nodiscard]] Flow flow() const& { return make_flow(graph, shapes, 1); }
  [[nodiscard]] Flow flow() const&& = delete;
  [[nodiscard]] Flow fused() const&& = delete;
  [[nodiscard]] Flow fused() const& {
    Flow made = flow();
    MaskReader masks(graph, shapes);
    fuse_flow(made, masks);
    return made;
  }

  OnnxGraph graph;
  OnnxShapes shapes;
  OnnxShapes other;  // for twice the sequence
};

// The kinds of a flow's operators, in order.
inline std::vector<FlowKind> kinds(const std::vector<FlowOp>& ops) {
  std::vector<FlowKind> out;
  for (const FlowOp& op : ops) out.push_back(op.kind);
  return out;
}
inline std::vector<FlowKind> kinds(const Flow& flow) {
  return kinds(flow.ops);
}

// The operators of a graph, as they are and after patterns were found.
inline std::vector<FlowOp> flow_ops(const OnnxWriter& w) {
  const TestGraph graph(w.bytes());
  return graph.flow().ops;
}
inline std::vector<FlowOp> fused_ops(const OnnxWriter& w) {
  const TestGraph graph(w.bytes());
  return graph.fused().ops;
}

// x [batch, sequence, 64] as rows of a table, for what a test adds. A test whose own tensors are as long as the sequence
// gives that length: the graph is looked at with twice the sequence too.
inline OnnxWriter rows_of_table(const TestDim& length = "sequence") {
  OnnxWriter w;
  w.input("input_ids", OnnxWriter::kInt64, {"batch", length});
  w.weight("table", {999, 64});
  w.node("Gather", {"table", "input_ids"}, {"x"});
  return w;
}

}  // namespace nest::model::test
