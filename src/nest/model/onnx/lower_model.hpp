// A flow that was cut into layers as a ModelSpec: an embedding, blocks as lists of steps, and a head.
#pragma once

#include "nest/base/error.hpp"
#include "nest/model/blocks/spec.hpp"
#include "nest/model/onnx/axes.hpp"
#include "nest/model/onnx/cut.hpp"

namespace nest::model {

// `fixed`: the file has one length of sequences.
[[nodiscard]] ModelSpec lower_model(const Flow& flow, const OnnxShapes& other, bool fixed,
                                    Warnings& warnings);

}  // namespace nest::model
