// One stack of a model from a file of data/families and a config.json: its stem, and what every layer is made of.
#pragma once

#include "nest/base/document/reader.hpp"
#include "nest/model/blocks/spec.hpp"
#include "nest/model/hub/family_fields.hpp"

namespace nest::model {

// `f` has the family's fields of the whole model.
[[nodiscard]] StackSpec stack_of(Reader& r, const Described& family, Fields& f);

}  // namespace nest::model
