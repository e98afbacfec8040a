// The details of a model (see blocks/details.hpp) from a config.json: alternative spellings, class defaults of
// Transformers 5.16. Values that are no numbers are passed over, because no shape depends on them.
#pragma once

#include <string_view>

#include "nest/base/document/reader.hpp"
#include "nest/model/blocks/details.hpp"

namespace nest::model {

// `type` is the model_type.
[[nodiscard]] ModelDetails read_details(Reader& r, std::string_view type);

}  // namespace nest::model
