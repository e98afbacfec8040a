// Plain numbers as people type them; quantities with units are in units.hpp.
//
//   parse_whole("131,072") == 131072, parse_share("5%") == parse_share("0.05")
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "nest/base/rooms.hpp"

namespace nest::base {

// All give nullopt where the text is something else or not finite. "131,072" and "131_072" are whole numbers,
// "1,2" is a list.
[[nodiscard]] std::optional<std::int64_t> parse_whole(std::string_view text);
[[nodiscard]] std::optional<double> parse_number(std::string_view text);
[[nodiscard]] std::optional<double> parse_share(std::string_view text);

}  // namespace nest::base
