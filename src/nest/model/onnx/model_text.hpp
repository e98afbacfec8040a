// A model as lists of steps in JSON: what a plan holds of a model that came from an ONNX file, so that the plan can be
// priced again without it. docs/formats/onnx.md describes the format.
//
//   {"format": "nest-model", "version": 1, "name": "gpt2", "stacks": [{"hidden": 768, "blocks": [0, 0], ..}], "head": {..}}
#pragma once

#include "nest/base/document/document.hpp"
#include "nest/base/document/value.hpp"
#include "nest/model/blocks/spec.hpp"

namespace nest::model {

[[nodiscard]] Value model_text(const ModelSpec& spec);

// Whether a document claims to be such a text.
[[nodiscard]] bool is_model_text(const Value& root);
// Throws an InputError with the place of what cannot be built.
[[nodiscard]] ModelSpec read_model_text(const Document& document);

}  // namespace nest::model
