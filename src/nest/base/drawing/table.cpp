#include "nest/base/drawing/table.hpp"

#include <algorithm>
#include <utility>

namespace nest::base {
namespace {

constexpr std::string_view kGap = "  ";
constexpr std::size_t kNarrowestCut = 8;

// The first `columns` code points of a text.
std::string_view head(std::string_view utf8, std::size_t columns) {
  std::size_t at = 0;
  for (std::size_t seen = 0; at < utf8.size(); ++at) {
    const bool starts = (static_cast<unsigned char>(utf8[at]) & 0xC0U) != 0x80U;
    if (starts && seen++ == columns) break;
  }
  return utf8.substr(0, at);
}

}  // namespace

std::size_t text_width(std::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(
      utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

void Table::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::str(std::size_t width) const {
  std::vector<std::size_t> widths;
  widths.reserve(columns_.size());
  for (const Column& c : columns_) widths.push_back(text_width(c.title));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], text_width(row[i]));
  }
  std::size_t total = kGap.size() * (columns_.size() - 1);
  for (const std::size_t w : widths) total += w;
  for (std::size_t i = columns_.size(); total > width && i-- > 0;) {
    if (columns_[i].align != Align::left) continue;
    const std::size_t cut =
        std::min(total - width, widths[i] > kNarrowestCut ? widths[i] - kNarrowestCut : 0);
    widths[i] -= cut;
    total -= cut;
  }

  std::string out;
  const auto write = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      std::string cell = cell_of(i);
      if (text_width(cell) > widths[i]) cell = std::string(head(cell, widths[i] - 1)) + "\xe2\x80\xa6";
      const std::string padding(widths[i] - text_width(cell), ' ');
      if (i != 0) line += kGap;
      line += columns_[i].align == Align::right ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  write([&](std::size_t i) { return columns_[i].title; });
  for (const auto& row : rows_) write([&](std::size_t i) { return row[i]; });
  return out;
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    if (column > indent && column + 1 + text_width(word) > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += text_width(word);
    text = space == std::string_view::npos ? std::string_view{} : text.substr(space + 1);
  }
  return out;
}

}  // namespace nest::base
