// What the operators of a layer are called: the names of the blocks that are built from a config.json (blocks/blocks.cpp),
// by which recomputation and adapters find them.
#pragma once

#include <map>
#include <string>

#include "nest/model/onnx/axes.hpp"
#include "nest/model/onnx/cut.hpp"

namespace nest::model {

// By operator; those that have no name of their own are not in it.
[[nodiscard]] std::map<std::size_t, std::string> part_names(const Flow& flow, const FlowAxes& axes,
                                                            const FlowLayer& layer, OnnxValueId memory);

// "q", "k", "v", "gate" or "up" for a result of a product with that name, by who uses it.
[[nodiscard]] std::string result_name(const Flow& flow, const FlowLayer& layer, OnnxValueId value,
                                      const std::string& product);

}  // namespace nest::model
