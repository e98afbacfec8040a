// What a config.json leaves out of its parts (text_config, vision_config, ...): the defaults of their own types.
//
//   config = with_defaults(std::move(config), "gemma3");  // its text_config says num_hidden_layers now
#pragma once

#include <string>

#include "nest/base/document/value.hpp"

namespace nest::model {

// What a part says of itself ("nest": {...}) whose keys stand beside those of the whole.
inline constexpr const char* kFlatPart = "beside_the_whole";

[[nodiscard]] Value with_defaults(Value config, const std::string& type);

}  // namespace nest::model
