// Parts of a config.json: groups of keys that describe a model of their own (text_config, vision_config, ...). What a type
// does not read of them is no detail that may be passed over.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nest/base/document/reader.hpp"
#include "nest/base/error.hpp"

namespace nest::model {

// The parts of this group of keys, by their keys.
[[nodiscard]] std::vector<std::string> parts_of_config(const Value& config);

// The part that is the language model, where the config has one: text_config, llm_config, ...
[[nodiscard]] std::optional<std::string> text_part_of(const Value& config);

// Refuses a part that was not asked for. `mentioned`: keys that the type knows, whether it asked for them or not.
void refuse_unread_parts(const Reader& r, const std::string& type, const std::vector<std::string>& mentioned);

// "config.json: line 2: --like llama reads text_config alone; vision_config is left out".
[[nodiscard]] std::string left_out_warning(const Reader& r, const std::string& like, const std::string& part);

}  // namespace nest::model
