// A layer as one device of the cell sees it: local shapes, local FLOPs, the collectives between its
// operators, and the list of what is not split evenly. Of Llama-3.1 70B with tensor 16, for example:
//
//   qkv                    1.2  fewer KV heads than tensor ranks
//   qkv.k.weight           2    fewer KV heads than tensor ranks
//   attention_norm.weight  16   norm
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/model/graph/layer.hpp"
#include "nest/strategies/strategy.hpp"

namespace nest::strategies {

struct ShardOptions {
  // Rows of the fullest device of an expert group over the mean; 1 = even.
  double expert_imbalance = 1;
  // Rows of an expert over the mean, beyond which tokens are dropped; 0: none are.
  double capacity_factor = 0;
  bool low_dispatch = false;     // rows travel to the experts in 8 bits
  bool split_documents = false;  // context ranks share every document, not the sequence as a whole
  bool ring_skips = false;       // rings pass on only what a further rank needs
  // A vocabulary split over t devices is padded to a multiple of this times t (Megatron's 128).
  std::int64_t vocabulary_multiple = 128;
};

// An operator whose FLOPs, or a parameter whose values, add up over the devices to more than the whole.
struct Replicated {
  std::string name;
  bool parameter = false;
  double factor = 1;  // sum over the devices, over the whole
  std::string reason;
};

// An axis made longer so that it divides.
struct Padding {
  std::string tensor;
  Axis axis = Axis::vocab;
  std::int64_t from = 0;
  std::int64_t to = 0;
};

// Where a parameter lies. Dense parameters are split over the tensor group, expert parameters over the x*e
// devices of the expert and expert tensor groups; the gradients of both are reduced over the rest (see
// docs/design.md).
struct ParameterFact {
  TensorIndex tensor = 0;
  bool expert = false;
  std::int64_t copies = 1;  // devices of those groups that hold the same slice
  // Each copy sees only a part of the gradient: it must be summed over the copies (norms under sequence
  // parallelism, norms of split heads, repeated KV heads).
  bool partial_gradient = false;
};

struct ShardedLayer {
  LayerType layer;  // of one device
  Strategy strategy;
  std::vector<ParameterFact> parameters;  // roles parameter and shared, in the order of tensors
  std::vector<Replicated> replicated;
  std::vector<Padding> padded;

  // Parameters of one device that are trained here, those apart from the published count included.
  [[nodiscard]] std::int64_t dense_parameters() const;
  [[nodiscard]] std::int64_t expert_parameters() const;
  // Of dense_parameters(): held whole by every tensor rank.
  [[nodiscard]] std::int64_t replicated_parameters() const;
  // Of all: gradients to be summed over their copies at the end of the backward pass.
  [[nodiscard]] std::int64_t partial_gradient_parameters() const;
  // Of all of these, frozen ones are left out.
  // Copies of weights that are trained in another layer.
  [[nodiscard]] std::int64_t shared_parameters() const;

  // Listed factor of an operator or parameter; 1 where it is not listed.
  [[nodiscard]] double factor_of(const std::string& name, bool parameter) const;
};

}  // namespace nest::strategies
