// What a mask leaves: single elements of values that are computed from positions, such as "key <= query", without ever
// making the whole square. Weights count as 0, masks that come in as letting everything through.
//
//   MaskReader mask(graph, shapes);
//   mask.element(value, {0, 0, 5, 6})   -> 0: query 5 does not see key 6
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "nest/model/onnx/infer.hpp"

namespace nest::model {

class MaskReader {
 public:
  MaskReader(const OnnxGraph& graph, const OnnxShapes& shapes);

  // None where it depends on something that is not followed.
  [[nodiscard]] std::optional<double> element(OnnxValueId value, const std::vector<std::int64_t>& place);
  [[nodiscard]] const OnnxShapes& shapes() const { return *shapes_; }

 private:
  using Place = std::vector<std::int64_t>;
  using Number = std::optional<double>;

  Number at(OnnxValueId value, const Place& place, int depth);
  Number of_tensor(std::size_t tensor, const Place& place) const;
  Number of_node(const OnnxNode& node, OnnxValueId value, const Place& place, int depth);
  Number broadcast_at(OnnxValueId value, const Place& place, int depth);
  Number reshaped(const OnnxNode& node, OnnxValueId value, const Place& place, int depth);
  Number gathered(const OnnxNode& node, const Place& place, int depth);
  Number gathered_nd(const OnnxNode& node, const Place& place, int depth);
  Number sliced(const OnnxNode& node, const Place& place, int depth);
  Number joined(const OnnxNode& node, const Place& place, int depth);
  Number summed(const OnnxNode& node, const Place& place, int depth);
  Number combined(const OnnxNode& node, const Place& place, int depth);

  const OnnxGraph* graph_;
  const OnnxShapes* shapes_;
  std::vector<std::uint32_t> maker_;   // node of a value
  std::vector<std::uint32_t> tensor_;  // initializer of a value
  std::vector<std::uint32_t> input_;   // input of the graph
  std::int64_t left_ = 0;              // work of one question
};

// Pairs of query and key that a mask leaves.
struct MaskFacts {
  bool causal = false;
  std::int64_t window = 0;  // keys that one query sees at most; 0: all
};

// Something that hides keys: added to the scores, or a choice between them and something very small.
struct MaskUse {
  OnnxValueId value = kNoValue;
  bool added = true;
  bool shows_where_true = true;  // of a choice
};

[[nodiscard]] MaskFacts read_mask(MaskReader& reader, const std::vector<MaskUse>& uses, std::int64_t queries,
                                  std::int64_t keys);

}  // namespace nest::model
