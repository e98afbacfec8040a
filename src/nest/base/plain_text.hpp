// What may stand in a text that people will see: no control characters, so that a line end or a terminal's
// escape sequence in a file never reaches a table, and UTF-8 throughout.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::base {

// Bytes of the UTF-8 character that begins here; 0 where none does (RFC 3629: no overlong forms, no
// surrogates).
[[nodiscard]] std::size_t utf8_length(std::string_view text);

// Adds a character by its number, which is no surrogate and at most 0x10FFFF.
void append_utf8(std::string& out, unsigned code);

// Whether a text holds C0 or C1 control characters or DEL.
[[nodiscard]] bool has_control(std::string_view text);

// The text with '?' for each control character: for what is quoted in a message or made of a file's name.
[[nodiscard]] std::string printable(std::string text);

// "a, b and c"; with another word in place of "and".
[[nodiscard]] std::string list_words(const std::vector<std::string>& words, std::string_view last = "and");

// "a+b+c"
[[nodiscard]] std::string joined(const std::vector<std::string>& words, std::string_view between = "");

// Without the blanks around it.
[[nodiscard]] std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r");

// ASCII letters; all others stay.
[[nodiscard]] char lower_case(char c);
[[nodiscard]] std::string lower_case(std::string_view text);
[[nodiscard]] bool same_letters(std::string_view a, std::string_view b);  // in either case

// Throws an InputError for what is no text at all: a binary file, UTF-16, bytes that are no UTF-8 (with their
// line). `expected` names what is expected: "JSON or YAML".
void refuse_unreadable(const std::string& file, std::string_view text, std::string_view expected);

}  // namespace nest::base
