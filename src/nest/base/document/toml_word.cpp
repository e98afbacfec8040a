#include "nest/base/document/toml_word.hpp"

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace nest::base {
namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}
bool is_hex(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0;
}

// Without the underscores, each of which stands between two digits; none where one does not.
std::optional<std::string> joined(std::string_view word) {
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '_') {
      out += word[i];
    } else if (i == 0 || i + 1 == word.size() || !is_hex(word[i - 1]) || !is_hex(word[i + 1])) {
      return std::nullopt;
    }
  }
  return out;
}

// A sign, then a digit, and no zero before other digits.
bool starts_as_number(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || !is_digit(text[0])) return false;
  return text[0] != '0' || text.size() == 1 || !is_digit(text[1]);
}

template <class Number>
std::optional<Number> all_of(const std::string& text, auto... how) {
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  Number out = 0;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), out, how...);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

std::optional<std::int64_t> whole(std::string_view word) {
  for (const auto& [mark, base] : {std::pair("0x", 16), {"0o", 8}, {"0b", 2}}) {
    if (!word.starts_with(mark)) continue;
    const auto text = joined(word.substr(2));
    if (!text || text->empty() || !is_hex(text->front())) return std::nullopt;
    return all_of<std::int64_t>(*text, base);
  }
  const auto text = joined(word);
  if (!text || !starts_as_number(*text)) return std::nullopt;
  return all_of<std::int64_t>(*text);
}

std::optional<double> real(std::string_view word) {
  const auto text = joined(word);
  if (!text || !starts_as_number(*text)) return std::nullopt;
  if (text->find_first_not_of("+-0123456789.eE") != std::string::npos) return std::nullopt;
  if (text->find_first_of(".eE") == std::string::npos) return std::nullopt;
  const std::size_t dot = text->find('.');
  if (dot != std::string::npos && (dot + 1 == text->size() || !is_digit((*text)[dot + 1])))
    return std::nullopt;
  const auto out = all_of<double>(*text);
  return out && std::isfinite(*out) ? out : std::nullopt;
}

// 1979-05-27, 07:32:00
bool is_date(std::string_view word) {
  return word.size() >= 5 && is_digit(word[0]) && is_digit(word[1]) && (word[2] == ':' || word[4] == '-') &&
         word.find_first_of("eE") == std::string_view::npos;
}

}  // namespace

TomlWord read_toml_word(std::string_view word) {
  if (word.empty()) return {{}, "a value is expected"};
  if (word == "true") return {true, ""};
  if (word == "false") return {false, ""};
  if (const auto number = whole(word)) return {*number, ""};
  if (const auto number = real(word)) return {*number, ""};
  if (is_date(word)) return {{}, "dates and times are not read here"};
  const std::string quoted = "'" + std::string(word) + "'";
  if (word.ends_with("inf") || word.ends_with("nan")) return {{}, quoted + " is not read here"};
  return {{}, quoted + " is no value: texts stand between quotes"};
}

}  // namespace nest::base
