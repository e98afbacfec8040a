// One stack of a model from a file of data/families and a config.json: its stem, and what every layer is made of.
#pragma once

#include <optional>

#include "nest/base/document/reader.hpp"
#include "nest/model/blocks/spec.hpp"
#include "nest/model/hub/family_fields.hpp"

namespace nest::model {

// `f` has the family's fields of the whole model.
[[nodiscard]] StackSpec stack_of(Reader& r, const Described& family, Fields& f);

// A module for multi-token prediction has a block with the fields of the layer `mtp_layer`, which may lie behind the
// last one, or made of the part `mtp_steps`; without either, the model's last block.
[[nodiscard]] std::optional<BlockSpec> prediction_block(Reader& r, const Described& family, Fields& f,
                                                        const StackSpec& stack);

}  // namespace nest::model
