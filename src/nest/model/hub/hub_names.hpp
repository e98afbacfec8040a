// The names in a config.json that say what it is: architectures[0], model_type, and keys that other families
// spell in their own way. Guesses and warnings only; no shape comes from here.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "nest/base/document/reader.hpp"
#include "nest/base/error.hpp"

namespace nest::model {

// architectures[0], where there is one.
[[nodiscard]] std::optional<std::string> architecture_of(Reader& r);

// What a class name has after its family's prefix: the head that is counted, another one that Transformers
// has for some family ("LlamaForSequenceClassification"), or nothing known ("LlamaForCausalLMEagle").
enum class ModelHead { counted, other, unknown };
[[nodiscard]] ModelHead head_of(std::string_view architecture, std::string_view class_prefix);

// A warning where the architecture is not what is counted.
void warn_of_head(const Reader& r, const std::string& architecture, std::string_view class_prefix,
                  const std::string& type, Warnings& warnings);

// A warning for keys such as num_layers in a family that calls it num_hidden_layers; they count as known
// afterwards.
void warn_of_synonyms(Reader& r, const std::string& type, Warnings& warnings);

// How many keys of the config a type does not read; none where it cannot read the config at all.
using UnreadKeys = std::function<std::optional<std::size_t>(const std::string& type)>;

// "did you mean 'llama'?" where the text is a misspelt known type: mt5, llama4 and llava are no misspellings but types
// of their own. Else what can be done about it, with a type that reads the config, where one does.
[[nodiscard]] std::string model_type_hint(const std::string& type, std::span<const std::string> known,
                                          const Value& config = {}, const UnreadKeys& unread = {});

}  // namespace nest::model
