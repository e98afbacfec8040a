// Model types that data describes: a file of data/families has the class defaults of a type and, for every part of
// a model, an expression over the keys of its config.json. docs/formats/family.md has the format.
//
//   class: Granite
//   like: llama
//   defaults: {hidden_size: 4096, ...}
//   block: {head_dim: "hidden_size / num_attention_heads"}
#pragma once

#include <string>
#include <vector>

#include "nest/base/document/reader.hpp"
#include "nest/model/blocks/spec.hpp"

namespace nest::model {

// The model types that data describes, sorted.
[[nodiscard]] std::vector<std::string> types_of_data();

// Whether data/families has a file for this model type.
[[nodiscard]] bool described_by_data(const std::string& type);

// Whether it has one that serves as a part of others at least: a tower, which is no model of its own.
[[nodiscard]] bool described_as_part(const std::string& type);

// The beginning of the type's class names: "Granite" for GraniteForCausalLM.
[[nodiscard]] std::string class_prefix_of(const std::string& type);

// The parts of its models that exports do not carry.
[[nodiscard]] std::vector<std::string> special_parts_of(const std::string& type);

// The model of a config.json of a type that data describes.
[[nodiscard]] ModelSpec read_by_data(Reader& r, const std::string& type);

}  // namespace nest::model
