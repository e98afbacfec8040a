#include "nest/base/document/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "nest/base/closest.hpp"
#include "nest/base/error.hpp"
#include "nest/base/plain_text.hpp"

namespace nest::base {
namespace {

using Fields = std::vector<std::string>;

// One record; `at` moves behind it and `line` on by the line ends that it holds.
Fields read_record(std::string_view text, std::size_t& at, int& line) {
  Fields out(1);
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') ++line;
    if (quoted && c == '"' && at + 1 < text.size() && text[at + 1] == '"') {
      out.back() += c;
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      out.emplace_back();
    } else if (!quoted && c == '\n') {
      break;
    } else if (c != '\r') {
      out.back() += c;
    }
  }
  ++at;
  return out;
}

std::string place(int line) {
  return "line " + std::to_string(line);
}

}  // namespace

const std::string& CsvRow::text(std::string_view column) const {
  static const std::string kNone;
  const auto found = table_->column(column);
  return found ? fields_[*found] : kNone;
}

void CsvRow::fail(std::string_view column, const std::string& expected) const {
  throw InputError(table_->file(), place(line_),
                   "'" + std::string(column) + "' is '" + printable(text(column)) + "', not " + expected);
}

std::optional<double> CsvRow::number(std::string_view column) const {
  const std::string& field = text(column);
  if (field.empty()) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size() || !(value > 0) || !std::isfinite(value)) {
    fail(column, "a positive number");
  }
  return value;
}

std::optional<std::int64_t> CsvRow::whole(std::string_view column, std::int64_t least) const {
  const std::string& field = text(column);
  if (field.empty()) return std::nullopt;
  constexpr double kMost = 1e15;  // doubles count exactly up to here
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  const bool read = error == std::errc() && end == field.data() + field.size();
  if (!read || value != std::floor(value) || value < static_cast<double>(least) || value > kMost) {
    fail(column, least > 0 ? "a positive whole number" : "a whole number");
  }
  return static_cast<std::int64_t>(value);
}

std::optional<bool> CsvRow::flag(std::string_view column) const {
  const std::string& field = text(column);
  if (field.empty()) return std::nullopt;
  if (field != "0" && field != "1") fail(column, "0 or 1");
  return field == "1";
}

CsvTable::CsvTable(std::string file, std::string_view text) : file_(std::move(file)) {
  std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0;  // a byte order mark, as spreadsheets write it
  if (text.substr(at).find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw InputError(file_, "", "the file is empty");
  int line = 1;
  header_ = read_record(text, at, line);
  while (at < text.size()) {
    const int first = line;
    Fields fields = read_record(text, at, line);
    if (fields.size() == 1 && fields.front().empty()) continue;
    if (fields.size() != header_.size()) {
      throw InputError(
          file_, place(first),
          std::to_string(fields.size()) + " fields, but the header has " + std::to_string(header_.size()));
    }
    rows_.emplace_back(*this, first, std::move(fields));
  }
}

void CsvTable::require(std::initializer_list<const char*> columns) const {
  for (const char* name : columns) {
    if (column(name)) continue;
    throw InputError(file_, "line 1", "no column '" + std::string(name) + "'", did_you_mean(name, header_));
  }
}

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header_.begin());
}

}  // namespace nest::base
