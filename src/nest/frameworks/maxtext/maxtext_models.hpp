// Models in MaxText's words: the name of one of its own models with the same shape, or the keys that describe one
// of a family that it builds.
//
//   find_maxtext_model(spec)   -> "llama2-70b"
//   maxtext_model_keys(spec, lost)   -> {"decoder_block": "llama2", "base_emb_dim": 2048, ..}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/model/blocks/spec.hpp"

namespace nest::frameworks {

// Empty where MaxText has no model of this shape. Its vocabularies may be padded.
[[nodiscard]] std::string_view find_maxtext_model(const ModelSpec& spec);
// Of the families that MaxText's rules allow. What the keys cannot say is added to `lost`, a sentence each.
[[nodiscard]] Value maxtext_model_keys(const ModelSpec& spec, std::vector<std::string>& lost);
// Layers as MaxText counts them: Gemma 2's are pairs.
[[nodiscard]] std::int64_t maxtext_layers(const ModelSpec& spec);

}  // namespace nest::frameworks
