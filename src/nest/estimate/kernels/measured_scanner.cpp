#include "nest/estimate/kernels/measured_scanner.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "nest/base/error.hpp"

namespace nest::estimate {
namespace {

bool blank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

}  // namespace

char JsonScanner::peek() {
  while (at_ < text_.size() && blank(text_[at_])) ++at_;
  return at_ < text_.size() ? text_[at_] : '\0';
}

void JsonScanner::expect(char c) {
  if (!take(c)) fail(std::string("'") + c + "' is expected here");
}

bool JsonScanner::take(char c) {
  if (peek() != c) return false;
  ++at_;
  return true;
}

std::string_view JsonScanner::text() {
  expect('"');
  const std::size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2U : 1U;
  if (at_ >= text_.size()) fail("a text has no closing quote");
  return text_.substr(begin, at_++ - begin);
}

double JsonScanner::number() {
  static_cast<void>(peek());
  double value = 0;
  const char* const begin = text_.data() + at_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (error != std::errc{}) fail("a number is expected here");
  at_ += static_cast<std::size_t>(end - begin);
  return value;
}

void JsonScanner::skip() {
  switch (peek()) {
    case '"':
      static_cast<void>(text());
      return;
    case '{':
    case '[': {
      int depth = 0;
      do {
        const char c = peek();
        if (c == '\0') fail("the text ends too early");
        if (c == '"') {
          static_cast<void>(text());
          continue;
        }
        ++at_;
        depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
      } while (depth > 0);
      return;
    }
    default:
      while (at_ < text_.size() && std::string_view(",]} \n\t\r").find(text_[at_]) == std::string_view::npos)
        ++at_;
  }
}

void JsonScanner::fail(const std::string& what) const {
  const std::string_view before = text_.substr(0, std::min(at_, text_.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  throw InputError(file_, "line " + std::to_string(line), what);
}

}  // namespace nest::estimate
