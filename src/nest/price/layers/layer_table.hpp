// Costs of all layers of a model under one strategy and recomputation policy, ready for stages: sums over
// ranges of layers, in constant time where layers are of few kinds. What the recipe lets overlap inside a
// layer is taken off here.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "nest/base/ids.hpp"
#include "nest/estimate/layers/layer_cost.hpp"
#include "nest/model/graph/profile.hpp"
#include "nest/recipe/recipe.hpp"

namespace nest::price {

// What layers of a stage add up to, in seconds, bytes and parameters of one device.
// What kernels lose beside `hidden` seconds of communication that takes `time` in all, and `traffic` of the device's
// memory.
[[nodiscard]] double slowed(double hidden, double time, double traffic, const Overlap& overlap);

enum class Term : std::uint8_t {
  forward,
  backward_input,
  backward_weight,
  recompute,
  forward_tensor,
  forward_expert,
  forward_context,
  backward_tensor,
  backward_expert,
  backward_context,
  dense_parameters,
  expert_parameters,
  partial_parameters,  // of both: gradients of which each tensor rank has a part
  low_parameters,      // of both: weights of products that a low precision computes
  stash,
  layers,
  // Bytes of weights that are not trained: as they are held, and as ZeRO-3 gathers them for each pass. All are 0 where
  // everything is trained.
  frozen_dense,
  frozen_expert,
  gathered_dense,  // forward
  gathered_expert,
  regathered_dense,  // backward
  regathered_expert,
  // Of exchanges with experts that run beside another micro-batch: what more of them shows where no pass runs beside
  // theirs. 0 where none does so.
  forward_alone,
  backward_alone,
  // Under Muon: parameters of its matrices, how many they are, and seconds of orthogonalizing them.
  matrix_dense,
  matrix_expert,
  matrices_dense,
  matrices_expert,
  orthogonal_dense,
  orthogonal_expert,
  // Where activations lie in host memory: bytes of them, and what copies take beyond the layer's own passes.
  host_stash,
  forward_offload,
  backward_offload,
};
inline constexpr std::size_t kTerms = 33;
inline constexpr std::size_t kTrainedTerms = 16;  // the first, which all models have

struct LayerTerms {
  std::array<double, kTerms> sums{};
  double transient = 0;           // of the layer that needs most
  double largest_parameters = 0;  // of the layer that has most
  double largest_gathered = 0;    // bytes of what ZeRO-3 gathers, of layers with frozen weights

  [[nodiscard]] double of(Term term) const { return sums[static_cast<std::size_t>(term)]; }
  double& of(Term term) { return sums[static_cast<std::size_t>(term)]; }
  LayerTerms& operator+=(const LayerTerms& other);
  bool operator==(const LayerTerms&) const = default;
};

[[nodiscard]] LayerTerms layer_terms(const LayerCost& cost, const Recipe& recipe,
                                     const Accelerator& accelerator);
// `incoming`: bytes of the layer's edges on one device, which full recomputation keeps.
[[nodiscard]] LayerTerms layer_terms(const ProfileLayer& layer, const LayerProfile& profile, bool full,
                                     Bytes incoming);

// What a layer keeps lies in host memory between its passes: each pass takes as long as its work or its copy. The device
// holds it while the layer works, and that of the layer whose copy is under way.
void offload_activations(const HostShare& host, LayerTerms& terms);

class LayerTable {
 public:
  explicit LayerTable(std::vector<LayerTerms> layers);

  [[nodiscard]] const LayerTerms& of(LayerId id) const { return layers_[id.index()]; }
  // How many of the terms any layer has: the others are 0.
  [[nodiscard]] std::size_t terms() const { return terms_; }
  // Layers first..last-1.
  [[nodiscard]] LayerTerms range(std::size_t first, std::size_t last) const;
  // The same for ranges with the same layers in any order, different for others (64 random bits a layer
  // type).
  [[nodiscard]] std::uint64_t signature(std::size_t first, std::size_t last) const {
    return signature_[last] - signature_[first];
  }

 private:
  static constexpr std::size_t kMostKinds = 12;

  std::vector<LayerTerms> layers_;
  std::size_t terms_ = kTrainedTerms;
  std::vector<std::size_t> kinds_;  // first layer of each kind
  // Layers of each kind before each layer, where kinds are few: counts_[layer * kinds + kind].
  std::vector<std::int32_t> counts_;
  std::vector<std::uint64_t> signature_;  // the same of the types' random bits
  // most_[k][i]: greatest transient and parameters of the 2^k layers from i on.
  struct Most {
    double transient;
    double parameters;
    double gathered;
  };
  [[nodiscard]] static Most most_of(const Most& a, const Most& b) {
    return {std::max(a.transient, b.transient), std::max(a.parameters, b.parameters),
            std::max(a.gathered, b.gathered)};
  }
  std::vector<std::vector<Most>> most_;
};

}  // namespace nest::price
