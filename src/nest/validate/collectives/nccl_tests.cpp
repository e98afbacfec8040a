#include "nest/validate/collectives/nccl_tests.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/numbers.hpp"
#include "nest/validate/collectives/collective_rows.hpp"

namespace nest::validate {
namespace {

constexpr std::string_view kHead = "# nThread";

std::vector<std::string> words_of(std::string_view line) {
  std::istringstream in{std::string(line)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// Launchers put "[1,0]<stdout>:" or "node1: " before lines.
std::string_view without_prefix(std::string_view line) {
  const std::size_t at = line.find("stdout>:");
  return at == std::string_view::npos ? line : line.substr(at + 8);
}

bool is_type(const std::string& word) {
  static const std::set<std::string> kTypes{"int8",   "uint8",  "int32", "uint32",   "int64",
                                            "uint64", "half",   "float", "double",   "bfloat16",
                                            "f8e4m3", "f8e5m2", "fp8",   "fp8_e4m3", "fp8_e5m2"};
  return kTypes.contains(word);
}

struct Table {
  std::string collective;
  std::set<std::string> ranks;
  std::set<std::string> hosts;
  std::string reduction;
  double bus_over_rate = 0;  // of the largest size
  NcclTest test;
};

// "#  Rank  8 Group  0 Pid  17 on  node1 device  0 [0x0f] NVIDIA A100"
void read_rank(const std::vector<std::string>& words, Table& table) {
  const auto after = [&](const char* key) -> std::optional<std::string> {
    const auto at = std::find(words.begin(), words.end(), key);
    if (at == words.end() || at + 1 == words.end()) return std::nullopt;
    return *(at + 1);
  };
  const auto rank = after("Rank");
  const auto host = after("on");
  if (!rank || !host || !after("device")) return;
  table.ranks.insert(*rank);
  table.hosts.insert(*host);
}

// size count type [redop] [root] time algbw busbw wrong, and the last four again in place.
void read_times(const std::vector<std::string>& words, Table& table) {
  if (words.size() < 7 || !is_type(words[2])) return;
  const auto size = parse_whole(words[0]);
  if (!size || *size < 0) return;
  std::vector<std::string> rest(words.begin() + 3, words.end());
  if (std::isalpha(static_cast<unsigned char>(rest.front().front())) != 0) {
    table.reduction = rest.front();
    rest.erase(rest.begin());
  }
  if (rest.size() % 4 == 1) rest.erase(rest.begin());
  if (rest.size() < 3) return;
  const auto time = parse_number(rest[0]);
  const auto rate = parse_number(rest[1]);
  const auto bus = parse_number(rest[2]);
  if (!time || !(*time > 0) || *size == 0) return;
  table.test.rows.push_back({Bytes{*size}, Seconds{*time * 1e-6}});
  if (rate && bus && *rate > 1) table.bus_over_rate = *bus / *rate;
}

// By its name where there is one, else by its bus bandwidth.
CollectiveKind kind_of(const Table& table) {
  if (!table.collective.empty()) return collective_named(table.collective);
  const auto n = static_cast<double>(table.test.ranks);
  const auto fits = [&](CollectiveKind kind) {
    return std::abs(table.bus_over_rate - bus_factor(kind, n)) < 0.02 * bus_factor(kind, n);
  };
  if (n > 2 && fits(CollectiveKind::all_reduce)) return CollectiveKind::all_reduce;
  if (!fits(CollectiveKind::all_gather)) return CollectiveKind::none;
  return table.reduction == "sum" ? CollectiveKind::reduce_scatter : CollectiveKind::all_gather;
}

}  // namespace

bool is_nccl_tests(std::string_view text) {
  return text.find(kHead) != std::string_view::npos && text.find("minBytes") != std::string_view::npos;
}

std::vector<NcclTest> read_nccl_tests(const std::string& file, std::string_view text) {
  std::vector<Table> tables;
  std::string collective;  // named by a command line before its table
  std::istringstream in{std::string(text)};
  for (std::string whole; std::getline(in, whole);) {
    const std::string_view line = without_prefix(whole);
    const bool names = line.find("_perf") != std::string_view::npos;
    if (names && collective_named(line) != CollectiveKind::none) collective = line;
    if (line.find(kHead) != std::string_view::npos) {
      tables.push_back({.collective = std::exchange(collective, "")});
      continue;
    }
    if (tables.empty()) continue;
    const std::vector<std::string> words = words_of(line);
    read_rank(words, tables.back());
    read_times(words, tables.back());
  }
  std::vector<NcclTest> out;
  for (Table& table : tables) {
    if (table.test.rows.empty()) continue;
    table.test.ranks = static_cast<std::int32_t>(table.ranks.size());
    table.test.hosts = static_cast<std::int32_t>(std::max<std::size_t>(1, table.hosts.size()));
    if (table.test.ranks < 2)
      throw InputError(file, "",
                       "the lines that list ranks and devices ('# Rank  0 ..') name fewer than two");
    table.test.kind = kind_of(table);
    if (table.test.kind == CollectiveKind::none)
      throw InputError(file, "", "nothing says which collective this is a test of",
                       "keep the line of the command, such as './all_reduce_perf -b 8 -e 8G'");
    out.push_back(std::move(table.test));
  }
  if (out.empty()) throw InputError(file, "", "there is no table of sizes and times");
  return out;
}

}  // namespace nest::validate
