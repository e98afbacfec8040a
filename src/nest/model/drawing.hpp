// Graphviz DOT text of a model: the layer graph, with runs of equal layers drawn once, beside the operators
// of its typical layer. `render_dot` of base turns it into SVG.
#pragma once

#include <string>

#include "nest/model/graph/model.hpp"
#include "nest/model/graph/profile.hpp"

namespace nest::model {

[[nodiscard]] std::string model_dot(const Model& model);
[[nodiscard]] std::string model_dot(const LayerProfile& profile);

}  // namespace nest::model
