// What `nest models show --json` prints, and Graphviz drawings of the layer graph and of one layer's
// operators.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/model/graph/model.hpp"
#include "nest/model/graph/profile.hpp"

namespace nest::model {

[[nodiscard]] Value describe(const Model& model);
[[nodiscard]] Value describe(const LayerProfile& profile);

// The operators of one layer type: name, kind, output shape, FLOPs, parameters, bytes, what is kept.
[[nodiscard]] Value describe_operators(const LayerType& type);

// The layer type that stands for the model in a one-page view: the most frequent block (the last of equals).
[[nodiscard]] const LayerType& typical_layer(const Model& model);

// Consecutive layers of one type: "layer0 .. layer79".
struct LayerRun {
  std::string name;
  std::size_t type = 0;
  std::int64_t layers = 0;
};
[[nodiscard]] std::vector<LayerRun> layer_runs(const Model& model);

}  // namespace nest::model
