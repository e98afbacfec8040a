// What the axes of an ONNX model's inputs are: sizes of the file, or the batch, or the sequence. Exporters give axes that
// differ from run to run a name ("batch", "seq_len", "s0"), or none.
//
//   OnnxSizes sizes(graph, {{"num_frames", 1500}});
//   sizes.shape(graph.inputs[0], {.batch = 1, .sequence = 128})   -> {1, 128}
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "nest/model/onnx/onnx_graph.hpp"

namespace nest::model {

struct OnnxRun {
  std::int64_t batch = 1;
  std::int64_t sequence = 1;
};

class OnnxSizes {
 public:
  // `given` are sizes that the user states, by name. Throws where an axis of an input has no size and is neither the
  // batch nor the sequence.
  OnnxSizes(const OnnxGraph& graph, const std::map<std::string, std::int64_t>& given);

  // Of the i-th input of the graph, for one run.
  [[nodiscard]] std::vector<std::int64_t> shape(std::size_t input, const OnnxRun& run) const;
  // A declared shape between nodes; none where it depends on what nobody knows.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> shape(const OnnxDeclared& declared,
                                                               const OnnxRun& run) const;

  // What the file fixes; none where it differs from run to run.
  [[nodiscard]] std::optional<std::int64_t> fixed_batch() const { return fixed_batch_; }
  [[nodiscard]] bool has_sequence() const { return has_sequence_; }

 private:
  enum class Role { fixed, batch, sequence };
  struct Axis {
    Role role = Role::fixed;
    std::int64_t size = 0;
  };
  Axis axis_of(const OnnxGraph& graph, const OnnxDeclared& input, std::size_t at);

  std::map<std::string, std::int64_t> given_;
  std::map<std::string, Axis> names_;  // as inputs settle them
  std::vector<std::vector<Axis>> inputs_;
  std::optional<std::int64_t> fixed_batch_;
  bool has_sequence_ = false;
};

// The value of an expression over names, such as "2*s0 + 1" or "((s12*s86)//s10)"; none where it has no value.
[[nodiscard]] std::optional<std::int64_t> evaluate_size(std::string_view text,
                                                        const std::map<std::string, std::int64_t>& names);

}  // namespace nest::model
