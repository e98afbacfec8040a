// Files in and out, with errors as sentences. A file is written whole or not at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nest/base/rooms.hpp"

namespace nest::base {

// JSON and YAML take some thirty times their size in memory, matrices of 4,096 devices have 200 MB.
inline constexpr std::int64_t kMostDocumentMib = 64;
inline constexpr std::int64_t kMostFileMib = 256;

// The whole text. Missing files, folders and files that are too large are InputErrors.
[[nodiscard]] std::string read_file(const std::string& path, std::int64_t most_mib = kMostFileMib);

// An InputError where a file cannot be written there: a folder, or in a folder that does not exist.
void check_target(const std::string& path);

// Writes beside the target and renames, so that a reader never sees half a file.
void write_file(const std::string& path, std::string_view text);

// Whether an argument that may be a name or a file means a file: by an ending .json, .yaml, .yml or .onnx,
// by beginning with /, ./ or ../, or because there is such a file. Known names come first: look them up before asking this.
[[nodiscard]] bool looks_like_file(const std::string& text);

}  // namespace nest::base
