#include "nest/validate/collectives/perftest.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include "nest/base/error.hpp"
#include "nest/base/numbers.hpp"

namespace nest::validate {
namespace {

constexpr double kMegabyte = 1 << 20;  // perftest's MB
constexpr double kGigabit = 1e9 / 8;
constexpr double kMicrosecond = 1e-6;
constexpr double kMost = 1e9;

std::vector<std::string> words_in(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// Bytes, iterations, and the figures behind them; none where a line is something else.
std::optional<std::vector<double>> row_of(const std::string& line) {
  std::vector<double> out;
  for (const std::string& word : words_in(line)) {
    const auto number = parse_number(word);
    if (!number) return std::nullopt;
    out.push_back(*number);
  }
  if (out.size() < 4 || !(out[3] > 0) || !(out[3] < kMost)) return std::nullopt;
  return out;
}

}  // namespace

bool is_perftest(std::string_view text) {
  return text.find("#bytes") != std::string_view::npos &&
         (text.find("BW average[") != std::string_view::npos ||
          text.find("t_typical[usec]") != std::string_view::npos);
}

LinkTest read_perftest(const std::string& file, std::string_view text) {
  LinkTest out;
  enum class Table { none, megabytes, gigabits, latencies } table = Table::none;
  bool both_ways = false;
  std::optional<double> smallest;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    both_ways = both_ways || line.find("Bidirectional BW Test") != std::string::npos;
    if (line.find("#bytes") != std::string::npos) {
      table = line.find("t_typical[usec]") != std::string::npos      ? Table::latencies
              : line.find("BW average[Gb/sec]") != std::string::npos ? Table::gigabits
              : line.find("BW average[MB/sec]") != std::string::npos ? Table::megabytes
                                                                     : Table::none;
      continue;
    }
    const auto row = table == Table::none ? std::nullopt : row_of(line);
    if (!row) continue;
    if (table == Table::latencies) {
      // bytes, iterations, t_min, t_max, t_typical, ..
      if (row->size() < 5 || (smallest && *smallest <= row->front()) || !((*row)[4] > 0)) continue;
      smallest = row->front();
      out.latency = Seconds{(*row)[4] * kMicrosecond};
      continue;
    }
    const double unit = table == Table::gigabits ? kGigabit : kMegabyte;
    const BytesPerSecond rate{(*row)[3] * unit / (both_ways ? 2 : 1)};
    out.bandwidth = std::max(out.bandwidth.value_or(rate), rate);
  }
  if (!out.bandwidth && !out.latency)
    throw InputError(file, "", "there is no table of ib_write_bw or ib_write_lat with a row",
                     "it begins with #bytes #iterations and BW average[Gb/sec] or t_typical[usec]");
  return out;
}

}  // namespace nest::validate
