#include "nest/cluster/imports/text_lines.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "nest/base/error.hpp"
#include "nest/base/plain_text.hpp"

namespace nest::cluster {
namespace {

bool blank(char c) {
  return kBlanks.find(c) != std::string_view::npos;
}

}  // namespace

std::vector<TextLine> lines_of(std::string_view text) {
  std::vector<TextLine> lines;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back({++number, line});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while (at < text.size()) {
    while (at < text.size() && blank(text[at])) ++at;
    std::size_t end = at;
    while (end < text.size() && !blank(text[end])) ++end;
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string without_escapes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      out += text[i];
      continue;
    }
    if (i + 1 >= text.size() || text[i + 1] != '[') continue;
    // Parameters, then one letter.
    for (i += 2;
         i < text.size() && (std::isdigit(static_cast<unsigned char>(text[i])) != 0 || text[i] == ';'); ++i) {
    }
  }
  return out;
}

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::optional<std::int64_t> digits_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<std::int64_t> number_behind(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return digits_of(text.substr(prefix.size()));
}

std::string line_place(int number) {
  return "line " + std::to_string(number);
}

void fail_line(const std::string& file, int number, const std::string& what, const std::string& hint) {
  throw InputError(file, line_place(number), printable(what), printable(hint));
}

}  // namespace nest::cluster
