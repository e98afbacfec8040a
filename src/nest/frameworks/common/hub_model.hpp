// The model of a plan as a config.json of the Hugging Face Hub: the file that the user gave, or that of our own
// models, without what only nest reads. Frameworks that build models from such a file are given it.
//
//   to_json(*hub_config(inputs))  ->  {"model_type": "llama", "vocab_size": 128256, ...}
#pragma once

#include <cstdint>
#include <optional>

#include "nest/base/document/value.hpp"
#include "nest/plan/inputs.hpp"

namespace nest::frameworks {

// None for layer profiles and models from ONNX files, which have no such file. `sequence`: where it is beyond the
// positions that the file states, the file states as many; models with a table of positions are not planned so.
[[nodiscard]] std::optional<Value> hub_config(const PlanInputs& inputs, std::int64_t sequence = 0);

}  // namespace nest::frameworks
