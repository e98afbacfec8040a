// Lines and words of what programs print, with the numbers of the lines for messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/plain_text.hpp"
#include "nest/base/rooms.hpp"

namespace nest::cluster {

struct TextLine {
  int number = 0;  // from 1
  std::string_view text;
};

// Without the line ends of either system.
[[nodiscard]] std::vector<TextLine> lines_of(std::string_view text);
// What separates words, and is trimmed around them.
inline constexpr std::string_view kBlanks = " \t\r\v\f";
[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  return base::trimmed(text, kBlanks);
}
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);
// Without the escape sequences that colour and underline text in a terminal.
[[nodiscard]] std::string without_escapes(std::string_view text);

[[nodiscard]] bool holds(std::string_view text, std::string_view part);
// A whole number with nothing around it.
[[nodiscard]] std::optional<std::int64_t> digits_of(std::string_view text);
// The number behind a prefix: number_behind("NV18", "NV") is 18.
[[nodiscard]] std::optional<std::int64_t> number_behind(std::string_view text, std::string_view prefix);

[[nodiscard]] std::string line_place(int number);
[[noreturn]] void fail_line(const std::string& file, int number, const std::string& what,
                            const std::string& hint = {});

}  // namespace nest::cluster
