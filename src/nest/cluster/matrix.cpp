#include "nest/cluster/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "nest/base/units.hpp"
#include "nest/cluster/graph.hpp"

namespace nest {
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

std::string trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t' || s.front() == '"')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r' || s.back() == '"'))
    s.remove_suffix(1);
  return std::string(s);
}

std::vector<Row> split(const MatrixText& source) {
  std::vector<Row> rows;
  std::string_view rest = source.text;
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

// Names are there where the second entry of the first row is no quantity: the first entry is on the diagonal,
// and people put anything there.
bool has_names(const std::vector<Row>& rows, const Parse& parse) {
  const std::vector<Cell>& first = rows.front().cells;
  return first.size() > 1 && !first[1].text.empty() && !parse(first[1].text) &&
         (first[1].text[0] < '0' || first[1].text[0] > '9') && first[1].text[0] != '-' &&
         first[1].text[0] != '.';
}

Square read_square(const MatrixText& source, UnitFamily family, const std::string& noun, const Parse& parse) {
  std::vector<Row> rows = split(source);
  if (rows.empty()) throw InputError(source.file, "", "the file is empty");
  Square out;
  const bool named = has_names(rows, parse);
  if (named) {
    for (std::size_t i = 1; i < rows.front().cells.size(); ++i)
      out.names.push_back(rows.front().cells[i].text);
    rows.erase(rows.begin());
  }
  const std::size_t n = rows.size();
  if (n < 2) throw InputError(source.file, "", "at least two devices are expected");
  if (n > static_cast<std::size_t>(kMostGraphDevices)) {
    throw InputError(source.file, "",
                     format_digits(static_cast<std::int64_t>(n)) + " devices are more than the " +
                         format_digits(kMostGraphDevices) + " that can be reduced to levels");
  }
  for (std::size_t i = 0; i < n; ++i) {
    Row& row = rows[i];
    if (named) row.cells.erase(row.cells.begin());
    if (row.cells.size() != n) {
      fail(source, row.line, 0,
           std::to_string(row.cells.size()) + " entries, but the matrix has " + std::to_string(n) + " rows",
           "it must be square");
    }
    std::vector<double> entries(n, 0);
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      const Cell& cell = row.cells[j];
      const std::optional<double> v = parse(cell.text);
      if (!v)
        fail(source, row.line, cell.column, "'" + cell.text + "' is not " + noun,
             unit_hint(cell.text, family));
      if (*v <= 0) fail(source, row.line, cell.column, "'" + cell.text + "' is not above 0");
      entries[j] = *v;
    }
    out.entries.push_back(std::move(entries));
  }
  if (named && out.names.size() != n) {
    throw InputError(source.file, "",
                     std::to_string(out.names.size()) + " names, but " + std::to_string(n) + " rows");
  }
  return out;
}

double both_ways(const MatrixText& source, const Square& square, const std::vector<std::string>& names,
                 std::size_t i, std::size_t j, Warnings& warnings) {
  const double there = square.entries[i][j];
  const double back = square.entries[j][i];
  const double apart = std::max(there, back) / std::min(there, back) - 1;
  if (apart > kWarnAsymmetry) {
    const std::string what = "the two directions between '" + names[i] + "' and '" + names[j] +
                             "' differ by " + std::to_string(std::llround(100 * std::min(apart, 1e6))) + " %";
    if (apart > kMostAsymmetry)
      throw InputError(source.file, "", what, "levels have one figure for both directions");
    warnings.push_back(source.file + ": " + what + "; their mean is taken");
  }
  return (there + back) / 2;
}

}  // namespace

MeasuredPairs read_matrices(const MatrixText& bandwidth, const MatrixText& latency) {
  const Square rates = read_square(bandwidth, UnitFamily::bandwidth, "a bandwidth", [](const std::string& s) {
    const auto v = parse_bandwidth(s);
    return v ? std::optional(v->value) : std::nullopt;
  });
  const Square times = read_square(latency, UnitFamily::time, "a time", [](const std::string& s) {
    const auto v = parse_time(s);
    return v ? std::optional(v->value) : std::nullopt;
  });
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
      pair.bandwidth = both_ways(bandwidth, rates, out.names, i, j, out.warnings);
      pair.latency = both_ways(latency, times, out.names, i, j, out.warnings);
    }
  }
  return out;
}

}  // namespace nest
