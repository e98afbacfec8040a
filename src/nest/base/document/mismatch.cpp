#include "nest/base/document/mismatch.hpp"

#include <algorithm>
#include <cmath>

#include "nest/base/plain_text.hpp"

namespace nest::base {
namespace {

std::string without(std::string text, std::string_view dropped) {
  std::erase_if(text, [&](char c) { return dropped.find(c) != std::string_view::npos; });
  return text;
}

}  // namespace

std::string quoted(const Value& value) {
  constexpr std::size_t kLongest = 40;
  std::string s = value.as_string() != nullptr ? *value.as_string() : to_json_line(value);
  if (s.size() > kLongest) {
    std::size_t end = kLongest - 3;
    while (end > 0 && (static_cast<unsigned char>(s[end]) & 0xC0U) == 0x80U)
      --end;  // never inside a character
    s = s.substr(0, end) + "...";
  }
  return "'" + s + "'";
}

std::optional<std::int64_t> exact_whole(const Value& value) {
  if (const std::int64_t* i = value.as_int()) return *i;
  const double* d = value.as_real();
  constexpr double kMost = 9.2e18;
  if (d != nullptr && std::abs(*d) < kMost && *d == std::floor(*d)) return static_cast<std::int64_t>(*d);
  return std::nullopt;
}

std::string as_written(const Document& document, const Path& path, const Value& value) {
  const std::string shortest = to_json_line(value);
  const std::optional<double> number = number_in<double>(shortest);
  std::string_view line = document.text;
  for (int skip = document.line_of(path) - 1; skip > 0 && !line.empty(); --skip)
    line.remove_prefix(std::min(line.find('\n'), line.size() - 1) + 1);
  line = line.substr(0, line.find('\n'));
  constexpr std::string_view kNumber = "0123456789+-.eE";
  constexpr std::size_t kLongest = 40;
  for (std::size_t at = 0; (at = line.find_first_of(kNumber, at)) != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_not_of(kNumber, at), line.size());
    const std::string_view token = line.substr(at, end - at);
    if (token.size() <= kLongest && number_in<double>(token) == number) return std::string(token);
    at = end;
  }
  return shortest;
}

bool is_number(const Value& value) {
  return value.as_int() != nullptr || value.as_real() != nullptr;
}

Mismatch mismatch(const std::string& expected, const Value& value, bool would_fit) {
  if (would_fit) return {expected + " is expected, not the text " + quoted(value), "remove the quotes"};
  std::string hint;
  if (const std::string* s = value.as_string(); s != nullptr && expected.ends_with("number")) {
    const std::string digits = without(*s, ",_ ");
    if (digits != *s && number_in<double>(digits)) hint = "write " + printable(digits);
  }
  return {expected + " is expected, not " + quoted(value), hint};
}

bool is_digits(const std::string& s) {
  return !s.empty() && s.find_first_not_of("0123456789") == std::string::npos;
}

std::string comma_hint(const Value::Object& members, const std::string& key) {
  std::string number;
  for (const auto& [name, value] : members) {
    if (name == key) break;
    if (is_digits(name) && value.is_null()) {
      number += name;
    } else {
      number = value.as_int() != nullptr ? std::to_string(*value.as_int()) : "";
    }
  }
  return number.empty() ? "a comma inside a number?" : "a comma inside a number? write " + number + key;
}

}  // namespace nest::base
