// Lists of a config.json that say of what kind each layer is: layer_types, a pattern such as "M-M*", ... An entry that the
// model type does not know would make another model of it, and so would a list of another length.
//
//   config.json: line 4, layer_types: 'mamba3' is no kind of layer that a 'qwen3' has; known: full_attention and sliding_attention
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nest/base/document/reader.hpp"

namespace nest::model {

// `known`: what entries are; none: they are no words. `layers`: how many there must be; none: any number.
void check_layer_list(const Reader& r, const std::string& key, const std::string& type,
                      const std::vector<std::string>& known, std::optional<std::int64_t> layers);

// The lists that a type reads by none of its own keys: all of their layers are plain attention, or they are refused.
void check_other_lists(const Reader& r, const std::string& type, const std::vector<std::string>& read,
                       std::optional<std::int64_t> layers);

}  // namespace nest::model
