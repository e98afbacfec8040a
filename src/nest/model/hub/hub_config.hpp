// A Hugging Face config.json as a ModelSpec. Missing keys take the class default of that model_type; an
// unknown model_type is refused by name. Other keys are allowed; one that is close to a known key, or that
// means the same in other families, earns a warning, and so does an architecture with another head than is
// counted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nest/base/document/document.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/base/error.hpp"
#include "nest/model/blocks/spec.hpp"

namespace nest::model {

// `name` is what the model is called where the file does not say (`_name_or_path`): usually the file's name.
[[nodiscard]] ModelSpec read_hub_config(const Document& document, const std::string& name,
                                        Warnings& warnings);

// The config as one of another type: read by that type's keys. The mark stays in it ("nest": {"like": ...}), so that a
// plan which holds the config is read in the same way.
void mark_like(Document& document, const std::string& type);

// The model of a part of a config, by the type of that part.
[[nodiscard]] ModelSpec read_part(Reader& r, const std::string& type);

// All model types that can be read, sorted.
[[nodiscard]] std::vector<std::string> known_model_types();

// What is known of a type without a config.json.
struct ModelType {
  std::optional<ModelSpec>
      defaults;         // the model of its class defaults: of a config.json that says the type alone
  std::string refusal;  // why there is none: some classes leave open what their layers are
  std::vector<std::string> special;  // parts that exports do not carry
};
[[nodiscard]] ModelType describe_model_type(const std::string& type);

}  // namespace nest::model
