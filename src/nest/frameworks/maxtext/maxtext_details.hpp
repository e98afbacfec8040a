// What a model has besides sizes in MaxText's keys: a row for each of model_details() that it has a key for, and what
// the models that it brings along have in place of ours.
//
//   add_maxtext_details(spec, "gemma2", keys, lost)  ->  attn_logits_soft_cap: 50.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/model/blocks/spec.hpp"

namespace nest::frameworks {

// For a model that is described by keys; `block` is MaxText's decoder_block. A sentence for each row that has no key
// is added to `lost`.
void add_maxtext_details(const ModelSpec& spec, std::string_view block, Value& keys,
                         std::vector<std::string>& lost);

// The model that MaxText has under one of its names, as far as its details go.
[[nodiscard]] ModelSpec maxtext_own_model(std::string_view name);

}  // namespace nest::frameworks
