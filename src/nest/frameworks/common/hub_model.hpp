// The model of a plan as a config.json of the Hugging Face Hub: the file that the user gave, or that of our own
// models, without what only nest reads. Frameworks that build models from such a file are given it.
//
//   to_json(*hub_config(inputs))  ->  {"model_type": "llama", "vocab_size": 128256, ...}
#pragma once

#include <optional>

#include "nest/base/document/value.hpp"
#include "nest/plan/inputs.hpp"

namespace nest::frameworks {

// None for layer profiles and models from ONNX files, which have no such file.
[[nodiscard]] std::optional<Value> hub_config(const PlanInputs& inputs);

}  // namespace nest::frameworks
