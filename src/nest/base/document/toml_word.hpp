// TOML's values that stand without quotes: true, false and numbers.
//
//   read_toml_word("1_000").value == Value(1000), read_toml_word("selective").problem != ""
#pragma once

#include <string>
#include <string_view>

#include "nest/base/document/value.hpp"

namespace nest::base {

struct TomlWord {
  Value value;
  std::string problem;  // a sentence without a full stop; empty: there is a value
};
[[nodiscard]] TomlWord read_toml_word(std::string_view word);

}  // namespace nest::base
