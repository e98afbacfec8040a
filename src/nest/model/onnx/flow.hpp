// The part of an ONNX graph that works on what comes in: from the rows of tables that tokens pick, or from images and other
// real numbers, to the outputs. Views of values (Reshape, Transpose, Cast, ...) are gone, what is computed from positions
// and shapes alone stands beside the operators that use it, and weights stand with the operator that reads them.
//
//   Flow flow = make_flow(graph, shapes, 1);
//   fuse_flow(flow, masks);
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nest/model/graph/layer_builder.hpp"
#include "nest/model/onnx/infer.hpp"

namespace nest::model {

enum class FlowKind {
  source,       // an input of real numbers
  lookup,       // rows of a table by token
  product,      // with one weight
  batched,      // a product of two values, or with a kernel for each of several groups
  convolution,  // with a kernel
  norm,
  softmax,
  attention,
  rotary,
  gate,     // activation(a) * b
  add,      // of two or more values
  pass,     // element by element, whatever it reads
  cut,      // a part of features or positions
  join,     // several values side by side
  reduce,   // fewer positions or features than before
  experts,  // com.microsoft's mixture of experts
};

struct FlowWeight {
  std::size_t tensor = 0;  // of the graph
  OnnxShape dims;          // as the operator reads it
};

// What an attention core works on.
struct FlowAttention {
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t key_dim = 1;
  std::int64_t value_dim = 1;
  std::int64_t queries = 1;
  std::int64_t keys = 1;
  bool causal = false;
  std::int64_t window = 0;
};

struct FlowOp {
  FlowKind kind = FlowKind::pass;
  std::string op;                 // ONNX's word for it
  std::set<std::string> parts;    // and for all that was put together
  std::vector<OnnxValueId> in;    // what it works on, without views
  std::vector<OnnxValueId> read;  // the same as it reads them
  std::vector<OnnxValueId> side;  // what depends on positions and shapes alone
  std::vector<OnnxValueId> out;
  std::vector<FlowWeight> weights;
  std::size_t node = 0;  // of the graph, the last one

  OperatorKind pass = OperatorKind::scale;
  bool silu = false;  // an activation that a gate would make a swiglu
  NormKind norm = NormKind::bare;
  bool bias = false;          // of a product or convolution: the last weight
  std::int64_t contract = 1;  // of a product: the length of its sums
  bool settled = false;       // which factor is a weight is known
  FlowAttention attention;
  bool alive = true;

  [[nodiscard]] bool has(const char* part) const { return parts.contains(part); }
};

class Flow {
 public:
  Flow(const OnnxGraph& graph, OnnxShapes shapes, std::int64_t sequences);

  [[nodiscard]] const OnnxGraph& graph() const { return *graph_; }
  [[nodiscard]] const OnnxShapes& shapes() const { return shapes_; }
  // A value that the graph has not, of the shape of one that it has.
  [[nodiscard]] OnnxValueId fresh_value(OnnxValueId like);
  [[nodiscard]] OnnxValueId fresh_value(OnnxShape shape, int type);
  [[nodiscard]] const OnnxShape& shape(OnnxValueId value) const;
  [[nodiscard]] std::int64_t elements(OnnxValueId value) const;

  // The node that makes a value of the graph, and the initializer that it is.
  [[nodiscard]] const OnnxNode* node_of(OnnxValueId value) const;
  [[nodiscard]] std::optional<std::size_t> tensor_of(OnnxValueId value) const;

  std::int64_t batch = 1;  // sequences that the shapes are of

  std::vector<FlowOp> ops;           // in an order in which they can run
  std::vector<OnnxValueId> outputs;  // without views
  std::set<std::string> unknown;     // operators whose work nobody here knows

  // Who makes and who uses a value, and which ones are outputs; index() looks anew after changes.
  void index();
  [[nodiscard]] FlowOp* maker(OnnxValueId value);
  [[nodiscard]] const FlowOp* maker(OnnxValueId value) const;
  [[nodiscard]] std::size_t maker_index(OnnxValueId value) const { return maker_[value]; }
  [[nodiscard]] const std::vector<std::uint32_t>& users(OnnxValueId value) const { return users_[value]; }
  // Its one user; none where it has several, or is an output.
  [[nodiscard]] FlowOp* only_user(OnnxValueId value);
  [[nodiscard]] bool is_output(OnnxValueId value) const;
  void set_maker(OnnxValueId value, std::size_t op) { maker_[value] = static_cast<std::uint32_t>(op); }
  void add_user(OnnxValueId value, std::size_t op) {
    users_[value].push_back(static_cast<std::uint32_t>(op));
  }
  // Takes what is not alive, and what leads to no output, out of the list.
  void tidy();

  static constexpr std::uint32_t kNobody = 0xFFFFFFFFU;

 private:
  const OnnxGraph* graph_;
  OnnxShapes shapes_;
  std::vector<std::uint32_t> node_of_;
  std::vector<std::uint32_t> tensor_of_;
  std::vector<std::uint32_t> maker_;
  std::vector<std::vector<std::uint32_t>> users_;
  std::vector<bool> output_;
};

// How long the sums of a product of two values are where values have these shapes; none where they do not say.
[[nodiscard]] std::optional<std::int64_t> sums_of(const Flow& flow, const FlowOp& op,
                                                  const OnnxShapes& shapes);

// Throws an InputError where nothing of the graph works on its inputs.
[[nodiscard]] Flow make_flow(const OnnxGraph& graph, const OnnxShapes& shapes, std::int64_t batch);

}  // namespace nest::model
