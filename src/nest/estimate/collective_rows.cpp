#include "nest/estimate/collective_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "nest/base/closest.hpp"
#include "nest/base/error.hpp"

namespace nest {
namespace {

using Fields = std::vector<std::string>;

// One line of CSV; quotes may hold commas, and a doubled quote is one. `at` moves behind the line.
Fields read_line(std::string_view text, std::size_t& at) {
  Fields out(1);
  bool quoted = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
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

class Columns {
 public:
  Columns(std::string file, Fields header) : file_(std::move(file)), header_(std::move(header)) {}

  void require(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      if (std::find(header_.begin(), header_.end(), name) != header_.end()) continue;
      throw InputError(file_, "line 1", "no column '" + std::string(name) + "'", did_you_mean(name, header_));
    }
  }

  // Devices and nodes: whole, and no more than any machine has.
  [[nodiscard]] std::optional<double> count(const Fields& fields, std::string_view name, int line) const {
    const std::optional<double> value = number(fields, name, line);
    constexpr double kMost = 1'000'000;
    if (value && (*value != std::floor(*value) || *value > kMost)) {
      throw InputError(file_, "line " + std::to_string(line),
                       "'" + std::string(name) + "' is '" + text(fields, name, line) +
                           "', not a whole number up to 1,000,000");
    }
    return value;
  }

  [[nodiscard]] std::string text(const Fields& fields, std::string_view name, int line) const {
    const auto found = std::find(header_.begin(), header_.end(), name);
    if (found == header_.end()) throw InputError(file_, "line 1", "no column '" + std::string(name) + "'");
    const auto i = static_cast<std::size_t>(found - header_.begin());
    if (fields.size() != header_.size()) {
      throw InputError(
          file_, "line " + std::to_string(line),
          std::to_string(fields.size()) + " fields, but the header has " + std::to_string(header_.size()));
    }
    return fields[i];
  }

  [[nodiscard]] std::optional<double> number(const Fields& fields, std::string_view name, int line) const {
    const std::string field = text(fields, name, line);
    if (field.empty()) return std::nullopt;
    double value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc() || end != field.data() + field.size() || !(value > 0) || !std::isfinite(value)) {
      throw InputError(file_, "line " + std::to_string(line),
                       "'" + std::string(name) + "' is '" + field + "', not a positive number");
    }
    return value;
  }

 private:
  std::string file_;
  Fields header_;
};

}  // namespace

std::vector<CollectiveRow> read_collective_rows(const std::string& file, std::string_view text) {
  std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0;  // a byte order mark, as spreadsheets write it
  if (text.substr(at).find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw InputError(file, "", "the file is empty");
  const Columns columns(file, read_line(text, at));
  columns.require({"id", "source", "collective", "hardware", "intra_link", "inter_link", "algo", "notes",
                   "num_gpus", "num_nodes", "gpus_per_node", "message_bytes", "time_us", "algbw_GBps",
                   "busbw_GBps"});
  std::vector<CollectiveRow> out;
  for (int line = 2; at < text.size(); ++line) {
    const Fields f = read_line(text, at);
    if (f.size() == 1 && f.front().empty()) continue;
    CollectiveRow row;
    row.id = columns.text(f, "id", line);
    row.source = columns.text(f, "source", line);
    row.collective = columns.text(f, "collective", line);
    row.hardware = columns.text(f, "hardware", line);
    row.intra_link = columns.text(f, "intra_link", line);
    row.inter_link = columns.text(f, "inter_link", line);
    row.algorithm = columns.text(f, "algo", line);
    row.notes = columns.text(f, "notes", line);
    row.devices = columns.count(f, "num_gpus", line);
    row.nodes = columns.count(f, "num_nodes", line);
    row.devices_per_node = columns.count(f, "gpus_per_node", line);
    row.message_bytes = columns.number(f, "message_bytes", line);
    row.time_us = columns.number(f, "time_us", line);
    row.algorithm_gb_per_s = columns.number(f, "algbw_GBps", line);
    row.bus_gb_per_s = columns.number(f, "busbw_GBps", line);
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace nest
