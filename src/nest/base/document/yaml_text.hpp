// Settings as YAML: groups become indented lines, lists stay on one line, and texts that YAML would read as
// something else are quoted.
//
//   to_yaml(value)  ->  "mixed_precision: \"no\"\nfsdp_config:\n  fsdp_version: 2\n"
#pragma once

#include <string>

#include "nest/base/document/value.hpp"

namespace nest::base {

[[nodiscard]] std::string to_yaml(const Value& value, const std::string& indent = {});

// A text as it may stand in YAML: in quotes where it would read as something else.
[[nodiscard]] std::string yaml_word(const std::string& text);

}  // namespace nest::base
