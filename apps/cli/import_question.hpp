// What the commands that read somebody else's launch files have in common.
#pragma once

#include <vector>

#include "command.hpp"
#include "nest/frameworks/megatron/megatron_import.hpp"

namespace nest::cli {

[[nodiscard]] std::vector<Option> import_options();
// The first positional is the file.
[[nodiscard]] ImportQuestion read_import_question(const Arguments& arguments);

}  // namespace nest::cli
