// Data files of the repository that are compiled into the library, so that the program runs from anywhere.
#pragma once

#include <string_view>

namespace nest {

struct EmbeddedFile {
  std::string_view name;  // file name without folder and extension: "llama3.1-8b"
  std::string_view text;
};

}  // namespace nest
