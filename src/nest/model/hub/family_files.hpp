// The files of data/families as text, and of a folder that NEST_FAMILIES names: a file there adds a model type, or
// stands in for the one of its name that is compiled in.
//
//   NEST_FAMILIES=my/families nest models show config.json
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nest/base/document/document.hpp"
#include "nest/base/embedded.hpp"

namespace nest::model {

// Those that are compiled in, by cmake/embed.cmake.
[[nodiscard]] std::span<const EmbeddedFile> family_files();

struct FamilyFile {
  std::string name;    // the model type: "granite"
  std::string prefix;  // of its class names: "Granite" for GraniteForCausalLM; empty: it only serves others
  std::string source;
};

// All of them by name, sorted.
[[nodiscard]] const std::vector<FamilyFile>& family_table();

[[nodiscard]] bool is_family(const std::string& name);
// Whether it comes from the folder of NEST_FAMILIES.
[[nodiscard]] bool is_own_family(const std::string& name);

// The file of that name, where there is one.
[[nodiscard]] std::optional<Document> family_document(const std::string& name);

}  // namespace nest::model
