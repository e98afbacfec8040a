// Shapes of all values of an ONNX graph for one run, and the contents of the small ones that shapes are computed with.
// What an operator makes follows from what it reads; where that is not known here, from what the file declares.
//
//   const OnnxShapes shapes = infer_shapes(graph, sizes, {.batch = 1, .sequence = 64});
//   shapes[value].shape   -> {1, 64, 4096}
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nest/model/onnx/onnx_graph.hpp"
#include "nest/model/onnx/onnx_sizes.hpp"

namespace nest::model {

struct OnnxInferred {
  int type = 0;  // 0: not known
  std::optional<OnnxShape> shape;
  std::shared_ptr<const OnnxNumbers> numbers;

  [[nodiscard]] std::int64_t elements() const;  // 0: not known
};

using OnnxShapes = std::vector<OnnxInferred>;  // by value

// Throws an InputError where operators do not fit together, or are of a kind that changes the graph while it runs.
[[nodiscard]] OnnxShapes infer_shapes(const OnnxGraph& graph, const OnnxSizes& sizes, const OnnxRun& run);

// Whether the shapes of what this operator makes are known here.
[[nodiscard]] bool has_shape_rule(const OnnxNode& node);

// One node with what its inputs are, for the rules in infer_rules and infer_numbers.
class InferStep {
 public:
  InferStep(const OnnxGraph& graph, const OnnxNode& node, OnnxShapes& values)
      : graph_(&graph), node_(&node), values_(&values) {}

  [[nodiscard]] const OnnxNode& node() const { return *node_; }
  [[nodiscard]] std::int64_t opset() const { return graph_->opset; }
  [[nodiscard]] bool knows(std::size_t i) const { return node_->reads(i) && input(i).shape.has_value(); }
  [[nodiscard]] const OnnxInferred& input(std::size_t i) const { return (*values_)[node_->inputs[i]]; }
  [[nodiscard]] const OnnxShape& shape(std::size_t i) const { return *input(i).shape; }
  [[nodiscard]] const OnnxNumbers* numbers(std::size_t i) const {
    return node_->reads(i) ? input(i).numbers.get() : nullptr;
  }
  // Whole numbers of an attribute, or of an input where later releases have them; none where they are not known.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> list(const char* attribute, std::size_t i) const;
  // Counted from the end where it is negative; checked.
  [[nodiscard]] std::size_t axis(std::int64_t given, std::size_t rank) const;

  void make(std::size_t output, OnnxShape shape, int type = 0);
  [[noreturn]] void fail(const std::string& what) const;

 private:
  const OnnxGraph* graph_;
  const OnnxNode* node_;
  OnnxShapes* values_;
};

// The shape that both broadcast to.
[[nodiscard]] OnnxShape broadcast(const InferStep& step, const OnnxShape& a, const OnnxShape& b);

}  // namespace nest::model
