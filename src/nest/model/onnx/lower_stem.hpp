// The stem of a stack: rows of a token table with positions and types added, or patches of images as a product with a
// class token, and whatever else comes before the first block as steps.
#pragma once

#include "nest/model/onnx/lower.hpp"

namespace nest::model {

[[nodiscard]] StackSpec lower_stem(const Flow& flow, const FlowAxes& axes, const FlowLayer& layer,
                                   FlowWeightUse& weights);

// What the first product over images or other real numbers makes.
[[nodiscard]] OnnxValueId stem_result(const Flow& flow, const FlowLayer& layer);

}  // namespace nest::model
