#include "nest/cluster/reduce/matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <unordered_set>

#include "nest/base/plain_text.hpp"
#include "nest/base/units.hpp"
#include "nest/cluster/reduce/graph.hpp"

namespace nest::cluster {
namespace {

constexpr double kWarnAsymmetry = 0.15;
constexpr double kMostAsymmetry = 0.50;

struct Cell {
  std::string text;
  int column = 1;
};
struct Row {
  int line = 1;
  std::vector<Cell> cells;
};
struct Square {
  std::vector<std::string> names;
  std::vector<std::vector<double>> entries;
};
using Parse = std::function<std::optional<double>(const std::string&)>;
struct Kind {
  UnitKind unit;
  std::string noun;
  Parse parse;
};

std::string trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t' || s.front() == '"')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r' || s.back() == '"'))
    s.remove_suffix(1);
  return std::string(s);
}

std::vector<Row> split(const MatrixText& source) {
  std::vector<Row> rows;
  std::string_view rest = source.text;
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);  // a byte order mark says nothing in UTF-8
  for (int line = 1; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view text = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (trim(text).empty() || trim(text).front() == '#') continue;
    Row row{line, {}};
    for (int column = 1;; ++column) {
      const std::size_t comma = std::min(text.find(','), text.size());
      row.cells.push_back({trim(text.substr(0, comma)), column});
      if (comma == text.size()) break;
      text.remove_prefix(comma + 1);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

[[noreturn]] void fail(const MatrixText& source, int line, int column, const std::string& what,
                       const std::string& hint = {}) {
  throw InputError(source.file,
                   "line " + std::to_string(line) + (column > 0 ? ", column " + std::to_string(column) : ""),
                   what, hint);
}

std::string entries(std::size_t n) {
  return std::to_string(n) + (n == 1 ? " entry" : " entries");
}

// What programs write for "not measured": no figure, and no device's name either.
bool is_missing(const std::string& text) {
  static constexpr std::array<std::string_view, 9> kWords{"nan",  "inf",  "infinity", "n/a", "na",
                                                          "none", "null", "-inf",     "+inf"};
  return std::find(kWords.begin(), kWords.end(), lower_case(text)) != kWords.end();
}

// Whether a cell can only be a name: no quantity, and nothing that looks like a mistaken one.
bool is_name(const std::string& text, const Parse& parse) {
  if (text.empty() || is_missing(text) || parse(text)) return false;
  return (text[0] < '0' || text[0] > '9') && text[0] != '-' && text[0] != '.';
}

using Names = std::vector<std::string>;

// 0, 1, 2, ... or 1, 2, 3, ...: figures of a real network are never that.
bool counts_up(const Names& names) {
  for (const char* first : {"0", "1"}) {
    bool all = !names.empty();
    for (std::size_t i = 0; i < names.size(); ++i)
      all = all && names[i] == std::to_string(i + static_cast<std::size_t>(*first - '0'));
    if (all) return true;
  }
  return false;
}

Names texts_of(const std::vector<Cell>& cells, std::size_t from) {
  Names out;
  for (std::size_t i = from; i < cells.size(); ++i) out.push_back(cells[i].text);
  return out;
}

Names first_column(const std::vector<Row>& rows, std::size_t from) {
  Names out;
  for (std::size_t i = from; i < rows.size(); ++i) out.push_back(rows[i].cells.front().text);
  return out;
}

// A first row of names: its second entry is one (the first is the corner, or on the diagonal, where people
// put anything), or it counts up, or it repeats the first column, which figures do not.
bool has_header(const std::vector<Row>& rows, const Parse& parse) {
  const std::vector<Cell>& first = rows.front().cells;
  if (first.size() < 2 || rows.size() < 3) return false;
  if (is_name(first[1].text, parse)) return true;
  const bool corner = first.size() == rows.size() && first[0].text.empty();
  const Names names = texts_of(first, corner ? 1 : 0);
  if (counts_up(names)) return corner || rows.size() == first.size() + 1;
  const bool figures =
      std::all_of(names.begin(), names.end(), [&](const auto& n) { return parse(n).has_value(); });
  return corner && !figures && names == first_column(rows, 1);
}

// A first column of names beside n entries.
bool has_labels(const std::vector<Row>& rows, bool header, const Parse& parse) {
  const std::size_t from = header ? 1 : 0;
  const std::size_t n = rows.size() - from;
  if (rows[from].cells.size() != n + 1) return false;
  const Names names = first_column(rows, from);
  return header || counts_up(names) ||
         std::all_of(names.begin(), names.end(), [&](const auto& name) { return is_name(name, parse); });
}

void check_separators(const MatrixText& source, const std::vector<Row>& rows) {
  constexpr const char* kHint = "separate columns with commas";
  for (const Row& row : rows) {
    for (const Cell& cell : row.cells) {
      if (cell.text.find(';') != std::string::npos)
        fail(source, row.line, cell.column, "a ';' in '" + cell.text + "'", kHint);
      if (cell.text.find('\t') != std::string::npos)
        fail(source, row.line, cell.column, "a tab in '" + cell.text + "'", kHint);
      if (has_control(cell.text))
        fail(source, row.line, cell.column, "a text without control characters is expected");
    }
    if (row.cells.size() == 1 && row.cells[0].text.find(' ') != std::string::npos)
      fail(source, row.line, 0, "one column, '" + row.cells[0].text + "'", kHint);
  }
}

// Takes the names out of the rows; empty where there are none.
Names take_names(const MatrixText& source, std::vector<Row>& rows, const Parse& parse) {
  const bool header = has_header(rows, parse);
  const bool labels = has_labels(rows, header, parse);
  Names columns;
  if (header) {
    const bool corner = rows.front().cells.size() >= rows.size();
    columns = texts_of(rows.front().cells, corner ? 1 : 0);
    rows.erase(rows.begin());
  }
  if (!labels) return columns;
  const Names names = first_column(rows, 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (header && i < columns.size() && names[i] != columns[i]) {
      fail(source, rows[i].line, 1,
           "the row is called '" + names[i] + "', but column " + std::to_string(i + 1) + " is '" +
               columns[i] + "'",
           "rows and columns must have the same names in the same order");
    }
    rows[i].cells.erase(rows[i].cells.begin());
  }
  return header ? columns : names;
}

void check_names(const MatrixText& source, const Names& names, std::size_t devices) {
  if (names.empty()) return;
  if (names.size() != devices) {
    throw InputError(source.file, "",
                     std::to_string(names.size()) + (names.size() == 1 ? " name" : " names") + ", but " +
                         std::to_string(devices) + " rows");
  }
  std::unordered_set<std::string> seen;
  for (const std::string& name : names) {
    if (name.empty()) throw InputError(source.file, "", "a device's name is empty");
    if (!seen.insert(name).second) throw InputError(source.file, "", "two devices are called '" + name + "'");
  }
}

double read_entry(const MatrixText& source, const Row& row, const Cell& cell, const Kind& kind) {
  const std::optional<double> v = kind.parse(cell.text);
  if (v && *v > 0) return *v;
  if (v) fail(source, row.line, cell.column, "'" + cell.text + "' is not above 0");
  if (is_missing(cell.text)) {
    fail(source, row.line, cell.column, "'" + cell.text + "' is not a number",
         "every pair needs one that is above 0");
  }
  fail(source, row.line, cell.column, "'" + cell.text + "' is not " + kind.noun,
       unit_hint(cell.text, kind.unit));
}

Square read_square(const MatrixText& source, const Kind& kind) {
  refuse_unreadable(source.file, source.text, "a matrix of texts and commas");
  std::vector<Row> rows = split(source);
  if (rows.empty()) throw InputError(source.file, "", "the file is empty");
  check_separators(source, rows);
  Square out;
  out.names = take_names(source, rows, kind.parse);
  const std::size_t n = rows.size();
  if (n < 2) throw InputError(source.file, "", "at least two devices are expected");
  if (n > static_cast<std::size_t>(kMostGraphDevices)) {
    throw InputError(source.file, "",
                     format_digits(static_cast<std::int64_t>(n)) + " devices are more than the " +
                         format_digits(kMostGraphDevices) + " that can be reduced to levels");
  }
  for (std::size_t i = 0; i < n; ++i) {
    const Row& row = rows[i];
    if (row.cells.size() != n) {
      fail(source, row.line, 0,
           entries(row.cells.size()) + ", but the matrix has " + std::to_string(n) + " rows",
           "it must be square");
    }
    std::vector<double> figures(n, 0);
    for (std::size_t j = 0; j < n; ++j) {
      if (i != j) figures[j] = read_entry(source, row, row.cells[j], kind);
    }
    out.entries.push_back(std::move(figures));
  }
  check_names(source, out.names, n);
  return out;
}

double both_ways(const MatrixText& source, const Square& square, std::size_t i, std::size_t j,
                 MeasuredPairs& out) {
  const double there = square.entries[i][j];
  const double back = square.entries[j][i];
  const double apart = std::max(there, back) / std::min(there, back) - 1;
  if (apart > kWarnAsymmetry) {
    const std::string what = "the two directions between '" + out.names[i] + "' and '" + out.names[j] +
                             "' differ by " + std::to_string(std::llround(100 * std::min(apart, 1e6))) + " %";
    if (apart > kMostAsymmetry)
      throw InputError(source.file, "", what, "levels have one figure for both directions");
    out.warnings.push_back(source.file + ": " + what + "; their mean is taken");
  }
  return (there + back) / 2;
}

}  // namespace

MeasuredPairs read_matrices(const MatrixText& bandwidth, const MatrixText& latency) {
  const Kind rate{UnitKind::bandwidth, "a bandwidth",
                  [](const std::string& s) { return parse_quantity(s, UnitKind::bandwidth); }};
  const Kind time{UnitKind::time, "a time",
                  [](const std::string& s) { return parse_quantity(s, UnitKind::time); }};
  const Square rates = read_square(bandwidth, rate);
  const Square times = read_square(latency, time);
  const std::size_t n = rates.entries.size();
  if (times.entries.size() != n) {
    throw InputError(latency.file, "",
                     std::to_string(times.entries.size()) + " devices, but " + bandwidth.file + " has " +
                         std::to_string(n));
  }
  if (!rates.names.empty() && !times.names.empty() && rates.names != times.names) {
    throw InputError(latency.file, "", "the devices' names differ from those in " + bandwidth.file);
  }
  MeasuredPairs out{
      rates.names.empty() ? times.names : rates.names, PairTable(static_cast<std::int32_t>(n)), {}};
  for (std::size_t i = out.names.size(); i < n; ++i) out.names.push_back("d" + std::to_string(i));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      PairFigures& pair = out.table.at(static_cast<std::int32_t>(i), static_cast<std::int32_t>(j));
      pair.bandwidth = both_ways(bandwidth, rates, i, j, out);
      pair.latency = both_ways(latency, times, i, j, out);
    }
  }
  return out;
}

}  // namespace nest::cluster
