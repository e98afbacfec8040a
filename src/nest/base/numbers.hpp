// Plain numbers as people type them, and shares as they read them; quantities with units are in units.hpp.
//
//   parse_whole("131,072") == 131072, parse_length("128K") == 131072, parse_share("5%") == parse_share("0.05")
//   format_percent(0.1234) == "12.3 %", format_signed_percent(-0.02) == "-2.0 %"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nest/base/rooms.hpp"

namespace nest::base {

// All give nullopt where the text is something else or not finite. "131,072" and "131_072" are whole numbers,
// "1,2" is a list.
[[nodiscard]] std::optional<std::int64_t> parse_whole(std::string_view text);
// Of tokens: "8192" is itself, "8k" 8,192, "128K" 131,072 and "1M" 1,048,576.
[[nodiscard]] std::optional<std::int64_t> parse_length(std::string_view text);
[[nodiscard]] std::optional<double> parse_number(std::string_view text);
[[nodiscard]] std::optional<double> parse_share(std::string_view text);

[[nodiscard]] std::string format_percent(double share, int digits = 1);
[[nodiscard]] std::string format_signed_percent(double share);
// So many significant digits: "0.0123 %".
[[nodiscard]] std::string format_small_percent(double share, int digits);

}  // namespace nest::base
