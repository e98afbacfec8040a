// What a parser complains of, in plain words. Messages that are not known pass through, shortened.
//
//   "syntax error while parsing object key - unexpected '}'; expected string literal"
//     -> "a comma with nothing after it"
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "nest/base/rooms.hpp"

namespace nest::base {

// For nlohmann/json: its message, the text, and where in it the last character was read.
[[nodiscard]] std::string json_cause(std::string_view message, std::string_view text, std::size_t at);

// For yaml-cpp: its message and the line that it names.
[[nodiscard]] std::string yaml_cause(std::string_view message, std::string_view line);

}  // namespace nest::base
