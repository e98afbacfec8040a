// A layer profile: layer costs that the user brings, per strategy, in place of our estimates. Layer values
// are per device of the cell, edge bytes are the whole tensor. docs/formats/profile.md describes the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nest/base/document/document.hpp"
#include "nest/base/ids.hpp"
#include "nest/base/units.hpp"
#include "nest/model/graph/model.hpp"

namespace nest::model {

struct ProfileLayer {
  std::string name;
  Seconds forward;
  Seconds backward;
  Bytes parameters;
  Bytes activations;  // stash of one micro-batch without recomputation
  Bytes expert_parameters;
  std::optional<Seconds> backward_weight;  // of backward: the weight gradient's part
  Bytes workspace;
};

struct ProfileStrategy {
  std::int64_t tensor = 1;
  std::int64_t expert = 1;
  std::int64_t context = 1;
  bool sequence_parallel = false;
  std::vector<ProfileLayer> layers;
  std::vector<Edge> edges;
};

struct ProfileShared {
  std::vector<LayerId> layers;
  Bytes parameters;
};

struct LayerProfile {
  std::string name;
  std::int64_t micro_batch = 1;
  std::int64_t sequence = 1;
  std::int64_t parameter_dtype_bytes = 2;
  std::vector<ProfileStrategy> strategies;  // the same layers and edges in each
  std::vector<ProfileShared> shared;

  // Parameters of the whole model as the first strategy states them, its tensor degree undone.
  [[nodiscard]] std::int64_t parameters() const;
};

// Whether a document claims to be a layer profile.
[[nodiscard]] bool is_layer_profile(const Document& document);

[[nodiscard]] LayerProfile read_layer_profile(const Document& document);

}  // namespace nest::model
