#include "pins/pin_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

namespace nest::pins {
namespace {

// A tenth more of a constant has to be seen in a row even where it is a small part of the whole; the last
// digits may differ between compilers.
constexpr double kTolerance = 1e-6;

std::vector<std::string> split(const std::string& line, char mark) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string word; std::getline(in, word, mark);) out.push_back(word);
  return out;
}

std::string join(const std::vector<std::string>& words) {
  std::string out = words.front();
  for (std::size_t i = 1; i < words.size(); ++i) out += "," + words[i];
  return out;
}

bool equal(double a, double b) {
  return std::abs(a - b) <= kTolerance * std::max(std::abs(a), std::abs(b));
}

}  // namespace

std::int64_t PinRow::whole(const std::string& column) const {
  return std::stoll(inputs_.at(column));
}

std::vector<std::int64_t> sizes_in(const std::string& text) {
  std::vector<std::int64_t> out;
  for (const std::string& word : split(text, 'x')) out.push_back(std::stoll(word));
  return out;
}

std::map<std::string, std::string> words_in(const std::string& text) {
  std::map<std::string, std::string> out;
  for (const std::string& word : split(text, ' ')) {
    const std::size_t mark = word.find('=');
    out[word.substr(0, mark)] = mark == std::string::npos ? "" : word.substr(mark + 1);
  }
  return out;
}

void check_pins(const std::string& table, const Figures& figures) {
  const std::string file = std::string(NEST_SOURCE_DIR) + "/tests/data/pins/" + table + ".csv";
  std::ifstream in(file);
  std::string line;
  ASSERT_TRUE(std::getline(in, line)) << file << " cannot be read";
  std::string written = line + "\n";
  const std::vector<std::string> columns = split(line, ',');
  const auto inputs = static_cast<std::size_t>(
      std::find_if(columns.begin(), columns.end(), [](const std::string& c) { return c.starts_with('='); }) -
      columns.begin());
  const bool write = std::getenv("NEST_WRITE_PINS") != nullptr;
  for (int number = 2; std::getline(in, line); ++number) {
    std::vector<std::string> cells = split(line, ',');
    cells.resize(columns.size());
    std::map<std::string, std::string> row;
    for (std::size_t i = 0; i < inputs; ++i) row[columns[i]] = cells[i];
    const std::vector<double> found = figures(PinRow(std::move(row)));
    ASSERT_EQ(found.size(), columns.size() - inputs) << table << ".csv:" << number;
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::string& cell = cells[inputs + i];
      if (!write && !equal(found[i], std::strtod(cell.c_str(), nullptr))) {
        ADD_FAILURE() << fmt::format(
            "tests/data/pins/{}.csv:{}: {} is {:.9g} where the table says {}. If a constant was changed on "
            "purpose, write the tables anew: NEST_WRITE_PINS=1 build/tests/pins/test_pins",
            table, number, columns[inputs + i].substr(1), found[i], cell);
      }
      cell = fmt::format("{:.9g}", found[i]);
    }
    written += join(cells) + "\n";
  }
  if (write) std::ofstream(file) << written;
}

}  // namespace nest::pins
