// Models in MaxText's words: the name of one of its own models with the same shape, or the keys that describe one
// of a family that it builds.
//
//   find_maxtext_model(spec)   -> "llama2-70b"
//   maxtext_model_keys(spec)   -> {"decoder_block": "llama2", "base_emb_dim": 2048, ..}
#pragma once

#include <string_view>

#include "nest/base/document/value.hpp"
#include "nest/model/blocks/spec.hpp"

namespace nest::frameworks {

// Empty where MaxText has no model of this shape. Its vocabularies may be padded.
[[nodiscard]] std::string_view find_maxtext_model(const ModelSpec& spec);
// Of the families that MaxText's rules allow.
[[nodiscard]] Value maxtext_model_keys(const ModelSpec& spec);
// Layers as MaxText counts them: Gemma 2's are pairs.
[[nodiscard]] std::int64_t maxtext_layers(const ModelSpec& spec);

}  // namespace nest::frameworks
