// The steps of a part that data describes, as operators of a layer.
//
//   add_steps(b, block.steps, {{"x", hidden}}, &block);
#pragma once

#include <map>
#include <string>
#include <vector>

#include "nest/model/blocks/spec.hpp"
#include "nest/model/graph/layer_builder.hpp"

namespace nest::model {

// What the last step makes, or "x" where there is none. `values` are those that come in: "x", and "memory" where an
// encoder was before. `block` has the attention, feed-forward and experts that steps of these kinds stand for.
TensorIndex add_steps(LayerBuilder& b, const std::vector<StepSpec>& steps,
                      std::map<std::string, TensorIndex> values, const BlockSpec* block);

}  // namespace nest::model
