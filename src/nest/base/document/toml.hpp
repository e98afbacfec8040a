// The door for TOML 1.0, which torchtitan's settings are written in. Dates, infinities and not-a-number are
// refused, because nothing that is read here has them. Values know their lines.
//
//   parse_toml("train.toml", "[training]\nseq_len = 8_192\n").root
//     ->  {"training": {"seq_len": 8192}}
#pragma once

#include <string>

#include "nest/base/document/document.hpp"

namespace nest::base {

// Text that is no TOML, that defines something twice or nests too deep is an InputError with its line.
[[nodiscard]] Document parse_toml(std::string file, std::string text);

}  // namespace nest::base
