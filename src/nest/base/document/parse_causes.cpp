#include "nest/base/document/parse_causes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

#include "nest/base/plain_text.hpp"

namespace nest::base {
namespace {

// "[json.exception.parse_error.101] parse error at line 3, column 5: syntax error while ...; last read:
// '...'"
std::string shortened(std::string_view message) {
  constexpr std::size_t kLongest = 200;  // the last read token may be the whole file
  if (const std::size_t bracket = message.find("] "); bracket != std::string_view::npos)
    message.remove_prefix(bracket + 2);
  if (message.starts_with("parse error at")) {
    if (const std::size_t colon = message.find(": "); colon != std::string_view::npos)
      message.remove_prefix(colon + 2);
  }
  if (message.size() <= kLongest) return std::string(message);
  std::size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0U) == 0x80U)
    --end;  // never inside a character
  return std::string(message.substr(0, end)) + "...";
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '+' || c == '.';
}

// The word around a place: NaN where the parser stopped at its N.
std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  std::size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  constexpr std::size_t kLongest = 40;
  return text.substr(begin, std::min(end - begin, kLongest));
}

// The text, number or bracket that ends at a place, as it is written.
std::string token_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kLongest = 40;
  if (text[at] != '"') return is_word(text[at]) ? std::string(word_at(text, at)) : std::string(1, text[at]);
  const std::size_t begin = at == 0 ? std::string_view::npos : text.rfind('"', at - 1);
  const bool short_enough = begin != std::string_view::npos && at - begin < kLongest;
  return short_enough ? std::string(text.substr(begin, at - begin + 1)) : "this text";
}

// The bracket that is open where the text ends, with its line.
std::optional<std::string> open_bracket(std::string_view text) {
  std::vector<std::pair<char, int>> open;
  int line = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') ++line;
    if (c == '{' || c == '[') open.emplace_back(c, line);
    if ((c == '}' || c == ']') && !open.empty()) open.pop_back();
    if (c != '"') continue;
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\') ++at;
    }
  }
  if (open.empty()) return std::nullopt;
  return "the '" + std::string(1, open.back().first) + "' of line " + std::to_string(open.back().second) +
         " is not closed";
}

std::string wrong_word(std::string_view text, std::size_t at, bool is_key) {
  if (text[at] == '\'') return "texts stand in double quotes in JSON, not in single ones";
  if (text[at] == '/' || text[at] == '#') return "JSON has no comments";
  const std::string word(word_at(text, at));
  const std::string lower = lower_case(word);
  const std::size_t sign = lower.find_first_not_of("+-");
  const std::string bare = sign == std::string::npos ? lower : lower.substr(sign);
  if (bare == "nan" || bare == "inf" || bare == "infinity") return "JSON has no " + word;
  if (lower == "true" || lower == "false") return "'" + word + "' is not JSON; write " + lower;
  if (lower == "none" || lower == "null") return "'" + word + "' is not JSON; write null";
  if (word.empty()) return {};
  return is_key ? "the key " + word + " needs double quotes" : "the text " + word + " needs double quotes";
}

}  // namespace

std::string json_cause(std::string_view message, std::string_view text, std::size_t at) {
  const auto says = [&](std::string_view part) { return message.find(part) != std::string_view::npos; };
  const bool is_key = says("while parsing object key");
  at = std::min(at, text.empty() ? 0 : text.size() - 1);
  if (says("number overflow")) return "the number " + std::string(word_at(text, at)) + " is too large";
  if (says("unexpected end of input")) {
    if (const auto open = open_bracket(text)) return *open;
  }
  if (says("invalid string: missing closing quote") || says("control character U+000A"))
    return "a quote is not closed";
  if (says("invalid literal") && at < text.size()) {
    if (std::string cause = wrong_word(text, at, is_key); !cause.empty()) return cause;
  }
  const std::size_t before = at == 0 ? std::string_view::npos : text.find_last_not_of(" \t\r\n", at - 1);
  const bool after_comma = before != std::string_view::npos && text[before] == ',';
  const bool closes = at < text.size() && (text[at] == '}' || text[at] == ']');
  if (closes && after_comma && says("unexpected '")) return "a comma with nothing after it";
  const bool in_container = says("while parsing object -") || says("while parsing array -");
  if (in_container && says("unexpected '}'")) return "a ']' is missing before this '}'";
  if (in_container && says("unexpected ']'")) return "a '}' is missing before this ']'";
  if (in_container && says("unexpected") && !says("unexpected end"))
    return "a comma is missing before " + token_at(text, at);
  if (says("while parsing object separator")) return "a ':' is missing after a key";
  if (says("expected end of input")) return "more text after the end of the first value";
  return shortened(message);
}

std::string yaml_cause(std::string_view message, std::string_view line) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kWords{{
      {"illegal map value", "a ': ' is not allowed here (a text with a colon needs quotes)"},
      {"illegal tab when looking for indentation", "a tab; YAML is indented with spaces"},
      {"end of sequence flow not found", "a bracket is not closed"},
      {"end of map flow not found", "a bracket is not closed"},
      {"illegal flow end", "a bracket is closed that was not opened"},
      {"illegal EOF in scalar", "a quote is not closed"},
      {"end of map not found", "this line does not fit those above it; check its indentation"},
      {"end of sequence not found", "this line does not fit those above it; check its indentation"},
  }};
  // A tab in the indentation is reported as whatever it breaks.
  const std::size_t text = line.find_first_not_of(" \t");
  if (line.substr(0, std::min(text, line.size())).find('\t') != std::string_view::npos)
    return std::string(kWords[1].second);
  for (const auto& [theirs, ours] : kWords) {
    if (message == theirs) return std::string(ours);
  }
  return shortened(message);
}

}  // namespace nest::base
