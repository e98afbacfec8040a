// How the Reader words a value that is not what is expected there: quoted, as it was written, with a hint.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nest/base/document/document.hpp"

namespace nest::base {

// The beginning of a value, in quotes.
[[nodiscard]] std::string quoted(const Value& value);

// A whole number within int64, also where it is written with a point or an exponent.
[[nodiscard]] std::optional<std::int64_t> exact_whole(const Value& value);
[[nodiscard]] bool is_number(const Value& value);
[[nodiscard]] bool is_digits(const std::string& text);

// The number that a text consists of.
template <class T>
[[nodiscard]] std::optional<T> number_in(std::string_view text) {
  T number{};
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto read = std::from_chars(begin, end, number);
  return read.ec == std::errc{} && read.ptr == end ? std::optional(number) : std::nullopt;
}

// The number as its line has it: 1e18 rather than the 1e+18 that it was read as.
[[nodiscard]] std::string as_written(const Document& document, const Path& path, const Value& value);

// "a whole number is expected, not 'x'", and what to do where the text nearly is one.
struct Mismatch {
  std::string what;
  std::string hint;
};
[[nodiscard]] Mismatch mismatch(const std::string& expected, const Value& value, bool would_fit);

// {size: 8,000} is the keys size and 000: "a comma inside a number? write 8000".
[[nodiscard]] std::string comma_hint(const Value::Object& members, const std::string& key);

}  // namespace nest::base
