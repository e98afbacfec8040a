// Walks through JSON text once, value by value, without building a tree: profiles have thousands of rows, and
// a general parser would take longer than planning does.
#pragma once

#include <string>
#include <string_view>

#include "nest/base/rooms.hpp"

namespace nest::estimate {

class JsonScanner {
 public:
  JsonScanner(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {}

  // The next character that is no blank, not yet taken; '\0' at the end.
  [[nodiscard]] char peek();
  void expect(char c);
  // Takes c if it is next.
  [[nodiscard]] bool take(char c);
  // Text between quotes. Escapes are not resolved: profiles have none where it matters.
  [[nodiscard]] std::string_view text();
  [[nodiscard]] double number();
  void skip();  // any value

  // Calls visit(key) for each member; visit must take the value.
  template <class Visit>
  void members(Visit visit) {
    expect('{');
    if (take('}')) return;
    do {
      const std::string_view key = text();
      expect(':');
      visit(key);
    } while (take(','));
    expect('}');
  }
  template <class Visit>
  void items(Visit visit) {
    expect('[');
    if (take(']')) return;
    do visit();
    while (take(','));
    expect(']');
  }

  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::string file_;
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace nest::estimate
