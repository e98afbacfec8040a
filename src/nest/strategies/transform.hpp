// A layer while strategies rewrite it. Tensors keep their whole shapes; beside them stands how each axis is
// split, so that several strategies can split the same axis in any order. A strategy takes the operators out,
// and pushes them back with collectives between them:
//
//   for (Operator& op : t.take_operators()) {
//     if (op.kind == OperatorKind::select) t.push_reduced(op, "broadcast", {CollectiveKind::broadcast});
//     else t.push(op);
//   }
//
// finish() turns the splits into local shapes, FLOPs and bytes, and lists what is not split evenly.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/model/graph/layer.hpp"
#include "nest/strategies/sharded_layer.hpp"

namespace nest::strategies {

class LayerTransform {
 public:
  LayerTransform(LayerType whole, Strategy strategy, ShardOptions options);

  [[nodiscard]] const Strategy& strategy() const { return strategy_; }
  [[nodiscard]] const ShardOptions& options() const { return options_; }

  // Tensors, with the shapes of the whole.
  [[nodiscard]] std::size_t tensors() const { return layer_.tensors.size(); }
  [[nodiscard]] const Tensor& tensor(TensorIndex i) const { return layer_.tensors[i]; }
  [[nodiscard]] bool has(TensorIndex i, Axis axis) const;
  [[nodiscard]] bool has_sequence(TensorIndex i) const;  // of its own or of the source
  // Not a parameter: something that a micro-batch makes.
  [[nodiscard]] bool is_activation(TensorIndex i) const;

  // Splits. An axis that the tensor lacks is left alone.
  void split(TensorIndex i, Axis axis, std::int64_t degree);
  void unsplit(TensorIndex i, Axis axis, std::int64_t degree);
  // All that counts tokens: sequence, source sequence, routed rows. Positions of towers are not split.
  void split_sequence(TensorIndex i, std::int64_t degree);
  [[nodiscard]] bool is_split(TensorIndex i, Axis axis) const;
  [[nodiscard]] bool is_split(TensorIndex i) const;
  // The axis is this long before it is split: padding of a vocabulary.
  void pad(TensorIndex i, Axis axis, std::int64_t size);
  // So many times the local rows: what gathers over a group, or the fullest device's load, add.
  void stretch(TensorIndex i, Axis axis, double factor);

  // Whether a tensor lies in a tensor-parallel region, where rows are whole and features are split. Outside
  // of one, every tensor rank holds the same values, or with sequence parallelism its share of the rows.
  [[nodiscard]] bool inside(TensorIndex i) const { return facts_[i].inside; }
  void set_inside(TensorIndex i, bool inside = true) { facts_[i].inside = inside; }
  void set_partial_gradient(TensorIndex i) { facts_[i].partial_gradient = true; }

  [[nodiscard]] const TokenRoute& routing() const { return layer_.routing; }

  // The graph.
  [[nodiscard]] const std::vector<Operator>& operators() const { return layer_.operators; }
  [[nodiscard]] std::vector<Operator> take_operators();
  void push(Operator op) { layer_.operators.push_back(std::move(op)); }
  // Same shape and splits under a longer name.
  TensorIndex copy(TensorIndex i, const std::string& suffix);
  // A collective from `inputs` to `outputs`; its bytes follow in finish().
  void push_collective(const std::string& name, CollectiveCall shape, std::vector<TensorIndex> inputs,
                       std::vector<TensorIndex> outputs);
  // The operator makes partial results, and a collective makes of them what it made before. Later operators
  // are none the wiser.
  void push_reduced(Operator op, const std::string& suffix, CollectiveCall shape);
  // A collective in front of an operator: makes a tensor inside a region of one outside, and returns it.
  TensorIndex push_enter(TensorIndex outside, const std::string& name, CollectiveCall shape);

  [[nodiscard]] ShardedLayer finish() &&;

 private:
  // One axis: the whole size (padded), what it is divided by, what it is multiplied by.
  struct Split {
    std::int64_t size = 1;
    std::int64_t divisor = 1;
    double stretch = 1;
    [[nodiscard]] std::int64_t local() const;
  };
  struct Facts {
    std::vector<Split> splits;  // one for each axis of the shape
    bool inside = false;
    bool partial_gradient = false;
  };
  [[nodiscard]] Shape local_shape(TensorIndex i) const;

  LayerType layer_;
  Strategy strategy_;
  ShardOptions options_;
  std::vector<Facts> facts_;    // one for each tensor
  bool counts_tokens_ = false;  // some of them have positions of the sequence: a tower's layers have none
};

// What an operator makes: its outputs, and the statistics it keeps for its backward pass. To be asked before
// its inputs are replaced: what it keeps of them would look like its own.
[[nodiscard]] std::vector<TensorIndex> made_by(const Operator& op);
// Every use of one tensor becomes a use of the other.
void replace(std::vector<TensorIndex>& uses, TensorIndex from, TensorIndex to);

// Whether a selection leaves one position of the sequence, which lies on one device.
[[nodiscard]] bool makes_one_position(const LayerTransform& t, const Operator& op);
// Whether a scan goes along positions that strategies split, and not along those of a tower.
[[nodiscard]] bool runs_along_sequence(const LayerType& layer, const Operator& op);

// What an operator's FLOPs are proportional to: rows times weights of a product, queries of an attention
// core.
[[nodiscard]] double work_of(const LayerType& layer, const Operator& op);

}  // namespace nest::strategies
