// Lays out a graph with Graphviz: DOT text in, SVG text out, by the program `dot` (Debian: graphviz).
#pragma once

#include <string>
#include <string_view>

#include "nest/base/rooms.hpp"

namespace nest::base {

// Throws an InputError where `dot` is not installed or refuses the text.
[[nodiscard]] std::string render_dot(std::string_view dot_text);

// A DOT string: quoted, with quotes and backslashes escaped.
[[nodiscard]] std::string dot_quote(std::string_view text);

}  // namespace nest::base
