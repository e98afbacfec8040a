// What the commands that read somebody else's launch files have in common.
#pragma once

#include <vector>

#include "command.hpp"
#include "nest/frameworks/importers.hpp"

namespace nest::cli {

[[nodiscard]] std::vector<Option> import_options();
// A kind by its name; a UsageError where there is none.
[[nodiscard]] const Importer& kind_named(const std::string& name);
// The first positional is the file.
[[nodiscard]] ImportQuestion read_import_question(const Arguments& arguments);

}  // namespace nest::cli
