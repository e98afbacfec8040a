// Data files of the repository that are compiled into the library, so that the program runs from anywhere.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::base {

struct EmbeddedFile {
  std::string_view name;  // file name without folder and extension: "llama3.1-8b"
  std::string_view text;
};

[[nodiscard]] inline const EmbeddedFile* find_embedded(std::span<const EmbeddedFile> files,
                                                       std::string_view name) {
  const auto it =
      std::find_if(files.begin(), files.end(), [&](const EmbeddedFile& f) { return f.name == name; });
  return it == files.end() ? nullptr : &*it;
}

// Names in alphabetical order.
[[nodiscard]] inline std::vector<std::string> names_of(std::span<const EmbeddedFile> files) {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : files) names.emplace_back(file.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace nest::base
