// What the features of a flow's values mean: heads, the inner width of a feed-forward, the vocabulary, the width of the
// residual stream, or nothing that is known. Strategies cut by these names.
//
//   FlowAxes axes(flow, other_shapes);
//   axes.features(value)    -> [32 heads, 128 head_dim]
//   axes.positions(value)   -> {64, 96}: of the first and of the second run
#pragma once

#include <cstdint>
#include <vector>

#include "nest/model/graph/tensor.hpp"
#include "nest/model/onnx/flow.hpp"

namespace nest::model {

// Of one sequence, for two lengths of it: equal where the number does not depend on it.
struct FlowPositions {
  std::int64_t first = 1;
  std::int64_t second = 1;

  bool operator==(const FlowPositions&) const = default;
};

class FlowAxes {
 public:
  // `other` are the shapes of a run with another sequence; the same where the file fixes it.
  FlowAxes(const Flow& flow, const OnnxShapes& other);

  [[nodiscard]] const Shape& features(OnnxValueId value) const { return features_[value]; }
  [[nodiscard]] std::int64_t width(OnnxValueId value) const { return width_[value]; }
  [[nodiscard]] FlowPositions positions(OnnxValueId value) const { return positions_[value]; }
  // Elements of a value, and the length of the sums of a product, in the first or the second run.
  [[nodiscard]] double amount(OnnxValueId value, bool second) const;
  [[nodiscard]] double contract(const FlowOp& op, bool second) const;
  // Values of the residual stream are as wide as this.
  void name_hidden(std::int64_t hidden);
  void name_vocabulary(OnnxValueId logits, Axis axis);

 private:
  void measure(const FlowOp& op);
  void set(OnnxValueId value, std::int64_t width);
  // The width where the number of positions stays; none where it does not.
  [[nodiscard]] std::int64_t width_at(OnnxValueId value, FlowPositions positions) const;
  void measure_join(const FlowOp& op);
  void name_heads(const FlowOp& attention);
  void trace(OnnxValueId from, const Shape& shape_of_all);
  void name_inner(const FlowOp& product);
  void pass_on(const FlowOp& op);
  [[nodiscard]] std::int64_t elements(OnnxValueId value, bool second) const;

  const Flow& flow_;
  const OnnxShapes& other_;
  std::vector<std::int64_t> width_;
  std::vector<FlowPositions> positions_;
  std::vector<Shape> features_;
  std::vector<bool> named_;
};

}  // namespace nest::model
