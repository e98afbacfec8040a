// Steps of graphs that tests write.
#pragma once

#include <string>
#include <vector>

#include "nest/model/onnx/lower.hpp"
#include "nest/model/onnx/test_flow.hpp"

namespace nest::model::test {

// The steps of everything between x and y.
inline std::vector<StepSpec> steps_of(const OnnxWriter& w) {
  const TestGraph graph(w.bytes());
  const Flow flow = graph.fused();
  FlowAxes axes(flow, graph.other);
  axes.name_hidden(64);
  FlowLayer layer;
  for (std::size_t i = 1; i < flow.ops.size(); ++i) layer.ops.push_back(i);
  layer.in = flow.ops[0].out[0];
  FlowWeightUse weights;
  return Lowering(flow, axes, layer, kNoValue, weights).steps();
}

inline std::vector<std::string> names_of(const std::vector<StepSpec>& steps) {
  std::vector<std::string> out;
  for (const StepSpec& s : steps) out.push_back(s.name);
  return out;
}

}  // namespace nest::model::test
