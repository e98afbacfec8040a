// What a sub-graph strategy is: a rule of when it applies and a transform of the operator graph. The
// library's own are rows of a table (registry.hpp); a program may pass a table with rows of its own.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "nest/model/graph/layer.hpp"
#include "nest/strategies/strategy.hpp"
#include "nest/strategies/transform.hpp"

namespace nest::strategies {

// Why a strategy cannot be used, as one sentence.
struct Refusal {
  std::string rule;      // a stable name: "tensor_heads"
  std::string sentence;  // "tensor 3 does not divide the 64 attention heads of layer"
  // A rule of a training framework, where the arithmetic would allow it.
  bool framework = false;
};

struct SubgraphStrategy {
  std::string name;
  std::string summary;
  // Whether the degrees ask for it at all.
  std::function<bool(const Strategy&)> active;
  // Whether this layer can be split so; called only where active.
  std::function<std::optional<Refusal>(const LayerType&, const Strategy&)> check;
  // Rewrites the layer; called only where active.
  std::function<void(LayerTransform&)> apply;
};

}  // namespace nest::strategies
