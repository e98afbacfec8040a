// The rows of asked_fields() that say what sequences are made of: lengths of documents, and images.
//
//   --lengths lengths.csv   --lengths 512:900,8K:100   --images 3   --image-tokens 256
//
// A file has a row for each length (length,count; the header may be left out), or one length on each line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nest/question/asked.hpp"

namespace nest::question {

[[nodiscard]] std::vector<AskedField> contents_fields();

// The text of such a file. Throws an InputError with the line of what is wrong.
[[nodiscard]] Lengths parse_lengths(const std::string& file, std::string_view text);
// Whether it is written out (512:900,8K:100), not the name of a file.
[[nodiscard]] bool states_lengths(std::string_view text);

}  // namespace nest::question
