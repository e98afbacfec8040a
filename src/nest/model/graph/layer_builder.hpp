// Builds a layer type operator by operator. Each call adds one operator with its parameters and returns what
// it makes; what is kept for the backward pass follows from the operator's kind.
//
//   LayerBuilder b("decoder");
//   const TensorIndex x = b.input("hidden", tokens_by_hidden);
//   const TensorIndex n = b.norm("attention_norm", x, NormKind::rms);
//   const std::vector<TensorIndex> qkv = b.matmul("qkv", n, {hidden}, {{"q", {heads, dim}}, ...});
//   ...
//   return b.finish({y});
#pragma once

#include <string>
#include <vector>

#include "nest/model/graph/layer.hpp"

namespace nest::model {

// layer_weight has no bias (Cohere), bare no parameters at all (OLMo).
enum class NormKind { rms, layer, layer_weight, bare };

// One weight of a matmul: the features it makes, and what the parameter is.
struct Weight {
  std::string name;
  Shape features;
  bool bias = false;
  Role role = Role::parameter;
};

// How a framework runs a layer, where that shows in what it keeps.
struct LayerStyle {
  // Whether chains of element-wise kernels run as one (a compiler, or a framework's own fused kernels). Where
  // they do not, a gated activation keeps the activated gate as well.
  bool fused = true;
  bool flash = true;     // see AttentionFacts
  bool dropout = false;  // of attention and of what residual additions add: masks of one byte a value
  // RMS norms as a chain of 32-bit operations, which keep the input in 32 bits and what the weight scales.
  bool plain_norms = false;
  bool fused_loss = false;  // the gradient of the logits takes their place, and nothing wider is kept
  std::shared_ptr<const Packing> packed{};  // of attention, see AttentionFacts
};

class LayerBuilder {
 public:
  explicit LayerBuilder(std::string name, LayerStyle style = {});

  [[nodiscard]] const LayerStyle& style() const { return style_; }
  [[nodiscard]] bool has_operators() const { return !layer_.operators.empty(); }

  // Parameters made from here on are outside the published count (see Tensor::apart).
  void set_apart(bool apart) { apart_ = apart; }

  TensorIndex input(std::string name, Shape shape, DType dtype = DType::bf16);
  // Over the last axis, with one weight (and bias) per value of it.
  // Over the last `span` axes together: 2 for one norm over all heads (OLMo 2).
  TensorIndex norm(const std::string& name, TensorIndex in, NormKind kind, std::size_t span = 1);

  // in [..., contract] times weights [contract, features] side by side. contract must end the input's shape.
  std::vector<TensorIndex> matmul(const std::string& name, TensorIndex in, const Shape& contract,
                                  const std::vector<Weight>& weights);
  TensorIndex matmul(const std::string& name, TensorIndex in, const Shape& contract, const Weight& weight);
  // The same for each expert: in [routed, contract], weights [experts, contract, features].
  std::vector<TensorIndex> grouped_matmul(const std::string& name, TensorIndex in, Dim experts,
                                          const Shape& contract, const std::vector<Weight>& weights);

  // Whether it is a flash kernel and drops follows from the builder's style.
  TensorIndex attention(const std::string& name, TensorIndex q, TensorIndex k, TensorIndex v,
                        const AttentionFacts& shape);
  // Element-wise: the output has the first input's shape.
  TensorIndex pointwise(const std::string& name, OperatorKind kind, std::vector<TensorIndex> inputs);
  // The residual stream and what blocks add to it, each dropped by itself where the style drops.
  TensorIndex residual(const std::string& name, std::vector<TensorIndex> inputs);
  // Anything else: named outputs, parameters that are read by row.
  struct General {
    std::string name;
    OperatorKind kind;
    std::vector<TensorIndex> inputs;
    std::vector<Tensor> parameters;
    std::vector<Tensor> outputs;
    Bytes parameter_bytes_read{};
  };
  std::vector<TensorIndex> general(General general);
  // The operator added last also keeps these.
  void also_keep(const std::vector<TensorIndex>& tensors);
  // Work of the operator added last, where its tensors do not show it.
  // `uncounted` of it is element-wise work.
  void set_flops(Flops flops, Flops uncounted = {}) {
    layer_.operators.back().forward_flops = flops;
    layer_.operators.back().uncounted = uncounted;
  }
  void set_scan(ScanKernel kernel) { layer_.operators.back().scan = kernel; }
  // One parameter more for the operator added last (a class token, a logit scale).
  void also_parameter(Tensor parameter);

  // Parameters made since there were `first` tensors belong to another layer, which has them too.
  [[nodiscard]] std::size_t tensors() const { return layer_.tensors.size(); }
  void share_since(std::size_t first);

  [[nodiscard]] const Shape& shape(TensorIndex i) const { return layer_.tensors[i].shape; }
  [[nodiscard]] Dim last_dim(TensorIndex i) const { return layer_.tensors[i].shape.back(); }
  void set_routing(const TokenRoute& routing) {
    layer_.routing = routing;
    layer_.active_expert_share = static_cast<double>(routing.top_k) / static_cast<double>(routing.experts);
  }

  [[nodiscard]] LayerType finish(std::vector<TensorIndex> outputs);

 private:
  TensorIndex add_tensor(Tensor tensor);
  // One product for each expert, or one.
  std::vector<TensorIndex> products(const std::string& name, TensorIndex in, const Shape& experts,
                                    const Shape& contract, const std::vector<Weight>& weights);
  void add_operator(Operator op);

  LayerType layer_;
  LayerStyle style_;
  bool apart_ = false;
};

}  // namespace nest::model
