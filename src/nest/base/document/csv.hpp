// Tables with named columns in CSV files (RFC 4180: quotes may hold commas and line ends, a doubled quote is
// one). Columns are found by their names; what is wrong is said with its line.
//
//   const CsvTable table("runs.csv", text);
//   table.require({"id", "num_gpus"});
//   for (const CsvRow& row : table.rows()) row.whole("num_gpus");
//   -> runs.csv: line 7: 'num_gpus' is 'eight', not a positive whole number
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::base {

class CsvTable;

// One record. The table outlives it.
class CsvRow {
 public:
  CsvRow(const CsvTable& table, int line, std::vector<std::string> fields)
      : table_(&table), line_(line), fields_(std::move(fields)) {}

  [[nodiscard]] int line() const { return line_; }
  // "" where the field is empty or there is no such column.
  [[nodiscard]] const std::string& text(std::string_view column) const;
  // Absent where the text is empty; an InputError where it is no positive number.
  [[nodiscard]] std::optional<double> number(std::string_view column) const;
  // The same for whole numbers from `least` on ("8" or "8.0").
  [[nodiscard]] std::optional<std::int64_t> whole(std::string_view column, std::int64_t least = 1) const;
  // 0 or 1.
  [[nodiscard]] std::optional<bool> flag(std::string_view column) const;

  [[noreturn]] void fail(std::string_view column, const std::string& expected) const;

 private:
  const CsvTable* table_;
  int line_;
  std::vector<std::string> fields_;
};

class CsvTable {
 public:
  // Throws an InputError for an empty file and for records with more or fewer fields than the header.
  CsvTable(std::string file, std::string_view text);
  CsvTable(const CsvTable&) = delete;  // rows point here
  CsvTable& operator=(const CsvTable&) = delete;

  // Throws an InputError that names the first column that is missing.
  void require(std::initializer_list<const char*> columns) const;
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::vector<CsvRow>& rows() const { return rows_; }
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;

 private:
  std::string file_;
  std::vector<std::string> header_;
  std::vector<CsvRow> rows_;
};

}  // namespace nest::base
