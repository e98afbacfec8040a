// The door for JSON and YAML: one parsed file, its name for messages, and the line of any place in it.
// Text that is no JSON or YAML, that repeats a key, or that nests too deep is an InputError with its line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nest/base/document/value.hpp"

namespace nest::base {

// A place in a document: keys and list indices from the root, e.g. {"levels", "1", "bandwidth"}.
using Path = std::vector<std::string>;

struct Document {
  std::string file;  // as the user named it; "-" is standard input
  std::string text;
  Value root;
  bool is_json = false;

  // Line of a place, counted from 1; the deepest part of the path that exists decides.
  [[nodiscard]] int line_of(const Path& path) const;
};

// The path as people write it: levels[1].bandwidth
[[nodiscard]] std::string spell(const Path& path);

// JSON where the text's first character is { or [, YAML otherwise (YAML flow style that is not JSON
// included).
[[nodiscard]] Document parse_document(std::string file, std::string text);
[[nodiscard]] Document parse_json(std::string file, std::string text);
[[nodiscard]] Document parse_yaml(std::string file, std::string text);

// Reads and parses a file of at most 64 MiB.
[[nodiscard]] Document read_document(const std::string& path);

// The line (from 1) at which the value with this path begins in a JSON text; an object's member begins at its
// key.
[[nodiscard]] int json_line(std::string_view text, const Path& path);

}  // namespace nest::base
