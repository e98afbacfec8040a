// Walks through a text of TOML character by character: blanks, comments, line ends, texts between quotes and
// the words outside of them. What tables are made of them is toml.cpp's.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "nest/base/document/value.hpp"

namespace nest::base {

class TomlCursor {
 public:
  // The texts must outlive the cursor.
  TomlCursor(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  [[nodiscard]] int line() const { return line_; }
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool next_is(std::string_view word) const { return text_.substr(at_).starts_with(word); }
  void advance(std::size_t characters = 1) { at_ += characters; }

  void skip_blanks();
  void skip_lines();   // white space, comments and line ends
  void end_of_line();  // nothing but a comment may follow
  void expect(char c, const char* what);

  [[nodiscard]] std::string key();
  [[nodiscard]] std::string quoted();  // of all four kinds
  [[nodiscard]] Value word();          // true, false and numbers

  // "x.toml: line 3: not valid TOML: .."
  [[noreturn]] void fail(const std::string& what) const;

 private:
  void skip_comment();
  void refuse_control(char c) const;
  bool take_line_end(std::string& out);
  bool closes(std::string& out, char mark, bool lines);
  void escape(std::string& out, bool lines);
  void code_point(std::string& out, std::size_t digits);

  const std::string& file_;
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

}  // namespace nest::base
