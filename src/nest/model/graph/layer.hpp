// A layer type: the operator graph of one layer, stored once however often the model repeats it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/model/graph/operator.hpp"
#include "nest/model/graph/tensor.hpp"

namespace nest::model {

// What a layer is to a plan. The builder of the model says it, whatever operators the layer has.
enum class LayerPart {
  end,         // an embedding, a projector or a head: there once
  block,       // one of the repeated blocks of a stack: it can recompute, and even splits deal it out
  prediction,  // a module for multi-token prediction: it can recompute, and stands with the head
};

struct LayerType {
  std::string name;  // "decoder", "moe_decoder", "embedding", ...
  std::vector<Tensor> tensors;
  LayerPart part = LayerPart::end;
  std::vector<Operator> operators;  // in an order in which they can run
  std::vector<TensorIndex> inputs;  // what comes over edges, in order
  std::vector<TensorIndex> outputs;
  // Of the routed experts' parameters, the share that one token uses: top-k / experts.
  double active_expert_share = 1;
  TokenRoute routing;  // of the routed experts: how many there are, and how many a token takes

  [[nodiscard]] const Tensor& tensor(TensorIndex i) const { return tensors[i]; }
  [[nodiscard]] bool is_block() const { return part == LayerPart::block; }

  // Parameters in the published count, those apart from it, and those that are trained in another layer.
  [[nodiscard]] std::int64_t parameters() const;
  [[nodiscard]] std::int64_t apart_parameters() const;
  [[nodiscard]] std::int64_t shared_parameters() const;
  [[nodiscard]] std::int64_t trained_parameters() const;  // of the first two: not frozen
  [[nodiscard]] std::int64_t expert_parameters() const;   // of parameters(): with an experts axis
  [[nodiscard]] std::int64_t active_parameters() const;

  [[nodiscard]] Flops forward_flops() const;
  // A backward pass takes twice the FLOPs of a forward pass: what it is spared because nobody waits for gradients.
  [[nodiscard]] Flops saved_flops() const;
  // Whether anything of a backward pass runs.
  [[nodiscard]] bool has_backward() const;
  // Whether an operator's backward pass makes gradients of what it reads, and of its own parameters.
  [[nodiscard]] bool passes_gradients(const Operator& op) const;
  [[nodiscard]] bool trains(const Operator& op) const;
  [[nodiscard]] Bytes output_bytes() const;
  // Whether an operator is a product that frameworks compute in a low precision where they have one: all but
  // routers, gates, heads over a vocabulary or classes, patch embeddings, and adapters.
  [[nodiscard]] bool low_product(const Operator& op) const;
  // What one micro-batch keeps from forward to backward: each kept tensor once, whoever keeps it. Products in a
  // low precision keep their inputs in it, `low_bytes` a value, beside what others keep of the same tensor;
  // 0: there are none.
  [[nodiscard]] Bytes stash_bytes(double low_bytes = 0) const;

  [[nodiscard]] Bytes bytes_read(const Operator& op) const;
  [[nodiscard]] Bytes bytes_written(const Operator& op) const;
  [[nodiscard]] std::int64_t parameters(const Operator& op) const;  // shared ones left out
};

// A set of tensors that are kept for a backward pass: as they are, or as operands of products, which a low
// precision keeps in its own bits.
class KeptTensors {
 public:
  void add(const LayerType& layer, const Operator& op);
  void add(TensorIndex i) { whole_.insert(i); }
  [[nodiscard]] bool contains(TensorIndex i) const { return whole_.contains(i) || operands_.contains(i); }
  void erase(TensorIndex i) {
    whole_.erase(i);
    operands_.erase(i);
  }
  [[nodiscard]] const std::set<TensorIndex>& whole() const { return whole_; }
  [[nodiscard]] const std::set<TensorIndex>& operands() const { return operands_; }
  [[nodiscard]] Bytes bytes(const LayerType& layer, double low_bytes) const;

 private:
  std::set<TensorIndex> whole_;
  std::set<TensorIndex> operands_;
};

}  // namespace nest::model
