// From a ModelSpec to a Model: layer types with their operators, the layer graph, tied tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "nest/model/blocks/spec.hpp"
#include "nest/model/graph/model.hpp"

namespace nest::model {

struct BuildOptions {
  std::int64_t micro_batch = 1;
  std::optional<std::int64_t> sequence;  // default: min(positions, 8192)
  Contents contents{};                   // of a sequence
  bool mtp = false;                      // put multi-token prediction modules into the graph
  bool fused = true;                     // the rest: see LayerStyle
  bool flash = true;
  bool dropout = false;
  bool fused_loss = false;
  bool plain_norms = false;
};

inline constexpr std::int64_t kDefaultLongestSequence = 8192;

// "sequences of 65,536 tokens are beyond the 32,768 positions of qwen2.5-7b": a sentence for a warning, empty where
// the model was made for such sequences.
[[nodiscard]] std::string beyond_positions(const ModelSpec& spec, std::int64_t sequence);

// Throws an InputError for a sequence beyond a learned table of positions, for a micro-batch or sequence below 1, and
// where either makes more than any computer holds.
[[nodiscard]] Model build_model(const ModelSpec& spec, const BuildOptions& options = {});

// What is absurd about the model's sizes, whatever the micro-batch and sequence; empty where nothing is.
[[nodiscard]] std::string size_problem(const ModelSpec& spec);

}  // namespace nest::model
