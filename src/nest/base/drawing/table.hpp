// Text tables for people: columns as wide as their content, numbers to the right, at most 100 columns in all.
//
//   name            parameters  layers
//   llama3.1-8b         8.03 B      32
//   llama3.1-70b        70.6 B      80
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::base {

inline constexpr std::size_t kTextWidth = 100;

class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell for each column; missing ones are empty.
  void add(std::vector<std::string> cells);
  // Rows joined by new lines, each ended by one. Where the table is too wide, the last left-aligned column is
  // cut with an ellipsis.
  [[nodiscard]] std::string str(std::size_t width = kTextWidth) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Columns that a text takes on a terminal: code points, not bytes.
[[nodiscard]] std::size_t text_width(std::string_view utf8);

// Breaks a text that begins at column `indent` at spaces, so that no line goes beyond column `width`; later
// lines are indented.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace nest::base
