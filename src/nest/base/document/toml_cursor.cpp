#include "nest/base/document/toml_cursor.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "nest/base/document/toml_word.hpp"
#include "nest/base/error.hpp"
#include "nest/base/plain_text.hpp"

namespace nest::base {
namespace {

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7F;
}

bool is_bare(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

}  // namespace

void TomlCursor::fail(const std::string& what) const {
  throw InputError(file_, "line " + std::to_string(line_), "not valid TOML: " + what);
}

void TomlCursor::skip_blanks() {
  while (peek() == ' ' || peek() == '\t') ++at_;
}

void TomlCursor::skip_comment() {
  if (peek() != '#') return;
  const std::size_t end = std::min(text_.find('\n', at_), text_.size());
  std::string_view comment = text_.substr(at_, end - at_);
  if (comment.ends_with('\r')) comment.remove_suffix(1);
  if (std::any_of(comment.begin(), comment.end(), is_control)) fail("a comment has a control character");
  at_ = end;
}

void TomlCursor::skip_lines() {
  for (;;) {
    skip_blanks();
    skip_comment();
    if (next_is("\r\n")) ++at_;
    if (peek() != '\n') return;
    ++at_;
    ++line_;
  }
}

void TomlCursor::end_of_line() {
  skip_blanks();
  skip_comment();
  if (next_is("\r\n")) ++at_;
  if (!at_end() && peek() != '\n') fail("more text after the end of a value");
}

void TomlCursor::expect(char c, const char* what) {
  skip_blanks();
  if (peek() != c) fail(std::string(what) + " is expected");
  ++at_;
  skip_blanks();
}

std::string TomlCursor::key() {
  if (peek() == '"' || peek() == '\'') {
    if (next_is("\"\"\"") || next_is("'''")) fail("a key has one line");
    return quoted();
  }
  const std::size_t begin = at_;
  while (is_bare(peek())) ++at_;
  if (at_ == begin) fail("a key is expected");
  return std::string(text_.substr(begin, at_ - begin));
}

Value TomlCursor::word() {
  const std::size_t begin = at_;
  while (is_bare(peek()) || peek() == '+' || peek() == '.' || peek() == ':') ++at_;
  TomlWord read = read_toml_word(text_.substr(begin, at_ - begin));
  if (!read.problem.empty()) fail(read.problem);
  return std::move(read.value);
}

void TomlCursor::refuse_control(char c) const {
  if (is_control(c)) fail("a text has a control character");
}

// Line ends inside texts of several lines.
bool TomlCursor::take_line_end(std::string& out) {
  const std::size_t size = next_is("\r\n") ? 2 : peek() == '\n' ? 1 : 0;
  if (size == 0) return false;
  out += '\n';
  at_ += size;
  ++line_;
  return true;
}

// Whether a text ends here. Up to two marks may stand before the three that close a text of lines.
bool TomlCursor::closes(std::string& out, char mark, bool lines) {
  if (at_end()) fail("a text is not closed");
  if (peek() != mark) return false;
  if (!lines) {
    ++at_;
    return true;
  }
  if (peek(1) != mark || peek(2) != mark) return false;
  for (int more = 0; more < 2 && peek(3) == mark; ++more) {
    out += mark;
    ++at_;
  }
  at_ += 3;
  return true;
}

std::string TomlCursor::quoted() {
  const char mark = peek();
  const bool lines = peek(1) == mark && peek(2) == mark;
  std::string out;
  at_ += lines ? 3 : 1;
  if (lines) take_line_end(out);
  out.clear();  // a line end right after the marks is none of the text
  while (!closes(out, mark, lines)) {
    if (lines && take_line_end(out)) continue;
    if (mark == '"' && peek() == '\\') {
      ++at_;
      escape(out, lines);
      continue;
    }
    refuse_control(peek());
    out += text_[at_++];
  }
  return out;
}

void TomlCursor::escape(std::string& out, bool lines) {
  static constexpr std::string_view kLetters = "btnfr\"\\";
  static constexpr std::string_view kMeanings = "\b\t\n\f\r\"\\";
  const char c = peek();
  if (const std::size_t at = kLetters.find(c); c != '\0' && at != std::string_view::npos) {
    out += kMeanings[at];
    ++at_;
    return;
  }
  if (c == 'u' || c == 'U') return code_point(out, c == 'u' ? 4 : 8);
  if (!lines) fail("a backslash with nothing that it means");
  // A backslash at the end of a line: the text goes on at the next word.
  skip_blanks();
  std::string passed;
  if (!take_line_end(passed)) fail("a backslash with nothing that it means");
  for (;;) {
    skip_blanks();
    if (!take_line_end(passed)) return;
  }
}

void TomlCursor::code_point(std::string& out, std::size_t digits) {
  const std::string_view word = text_.substr(std::min(at_ + 1, text_.size()), digits);
  unsigned code = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), code, 16);
  const bool whole = error == std::errc() && word.size() == digits && end == word.data() + digits;
  if (!whole || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) fail("an escape is no character");
  append_utf8(out, code);
  at_ += 1 + digits;
}

}  // namespace nest::base
