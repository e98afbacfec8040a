// Operators of a layer as steps (blocks/spec.hpp): products with their weights side by side where they read one value,
// norms, attention, and whatever else works element by element. Names are those of the blocks that are built from a
// config.json wherever a part is one that those have.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "nest/model/blocks/spec.hpp"
#include "nest/model/onnx/axes.hpp"
#include "nest/model/onnx/cut.hpp"

namespace nest::model {

// Weights that were met before: matrices are counted where they are first used.
struct FlowWeightUse {
  std::set<std::size_t> seen;
  std::set<std::size_t> tables;  // of token embeddings, with which a head may be tied
  std::size_t first_table = 0;
};

// One layer of a flow.
class Lowering {
 public:
  Lowering(const Flow& flow, const FlowAxes& axes, const FlowLayer& layer, OnnxValueId memory,
           FlowWeightUse& weights);

  // A stem's steps go on from this value.
  void begin_with(OnnxValueId value);
  // Without these operators of the layer.
  [[nodiscard]] std::vector<StepSpec> steps(const std::set<std::size_t>& left_out = {});
  [[nodiscard]] const std::optional<ExpertsSpec>& experts() const { return experts_; }
  [[nodiscard]] Activation activation() const { return activation_; }

 private:
  struct Now {
    std::string name;
    Shape features;
    FlowPositions positions;
  };

  void lower(std::size_t i);
  void lower_products(std::size_t first);
  void lower_convolution(const FlowOp& op);
  void lower_norm(std::size_t i);
  void lower_attention(std::size_t i);
  void lower_rotary(std::size_t i);
  void lower_scan(const FlowOp& op);
  void lower_experts(const FlowOp& op);
  void lower_pass(std::size_t i);

  [[nodiscard]] const Now& now(OnnxValueId value) const;
  // A value with these features, brought to them by a copy where it has others.
  std::string arranged(OnnxValueId value, const Shape& features, const FlowOp& op);
  [[nodiscard]] Shape contracted(const FlowOp& op) const;
  StepSpec step(StepSpec::Kind kind, const std::string& name, std::vector<std::string> from);
  void push(StepSpec step, const std::vector<OnnxValueId>& made);
  std::string fresh(const std::string& hint);
  std::string named(const std::string& wanted);
  void hold(StepSpec& step, const std::vector<FlowWeight>& weights, const Shape& features);
  void move(StepSpec& step, FlowPositions from, FlowPositions to, const FlowOp& op) const;
  [[nodiscard]] std::string part(std::size_t i, const std::string& usual) const {
    const auto at = parts_.find(i);
    return at == parts_.end() ? usual : at->second;
  }

  const Flow& flow_;
  const FlowAxes& axes_;
  const FlowLayer& layer_;
  FlowWeightUse& weights_;
  std::vector<StepSpec> out_;
  std::map<OnnxValueId, Now> values_;
  std::map<std::string, int> names_;
  std::map<std::size_t, std::string> parts_;
  std::set<std::size_t> done_;
  std::set<std::size_t> waiting_;  // rotary positions that a later operator takes along
  std::optional<ExpertsSpec> experts_;
  Activation activation_ = Activation::swiglu;
};

}  // namespace nest::model
