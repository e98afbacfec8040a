// One reader per family of config.json, each from a file of its own: keys and class defaults in, ModelSpec
// out. A new family is one function and one row in hub_config.cpp.
#pragma once

#include <string>

#include "nest/base/document/reader.hpp"
#include "nest/model/blocks/spec.hpp"

namespace nest::model {

[[nodiscard]] ModelSpec read_llama_like(Reader& r, const std::string& type);  // hub_llama.cpp
[[nodiscard]] ModelSpec read_deepseek(Reader& r, const std::string& type);    // hub_deepseek.cpp
[[nodiscard]] ModelSpec read_gpt2(Reader& r, const std::string& type);        // hub_gpt.cpp
[[nodiscard]] ModelSpec read_gpt_neox(Reader& r, const std::string& type);
[[nodiscard]] ModelSpec read_opt(Reader& r, const std::string& type);
[[nodiscard]] ModelSpec read_phi(Reader& r, const std::string& type);
[[nodiscard]] ModelSpec read_bert(Reader& r, const std::string& type);  // hub_encoders.cpp
[[nodiscard]] ModelSpec read_t5(Reader& r, const std::string& type);
[[nodiscard]] ModelSpec read_whisper(Reader& r, const std::string& type);
[[nodiscard]] ModelSpec read_vit(Reader& r, const std::string& type);  // hub_vision.cpp
[[nodiscard]] ModelSpec read_clip(Reader& r, const std::string& type);

}  // namespace nest::model
