// Which file of the zoo a name means. Organisation, letter case, - and _ do not tell models apart, and neither do the words
// of forms that have the shape of the model they are made of:
//
//   meta-llama/Llama-3.1-70B-Instruct-FP8   llama3.1-70b
//   Qwen3-235B-A22B-Thinking-2507           qwen3-235b-a22b
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "nest/base/embedded.hpp"

namespace nest::model {

// Null where no file is meant.
[[nodiscard]] const EmbeddedFile* file_of_name(std::span<const EmbeddedFile> files, std::string_view name);

// What may be meant by a name that no file has, as a question or a list; empty where nothing is near.
[[nodiscard]] std::string name_hint(std::span<const EmbeddedFile> files, std::string_view name);

}  // namespace nest::model
