// What the frameworks' own checks would say of exported files: written apart from the exporters, from the
// text of the files alone. Each returns the first problem, or "".
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::test {
using namespace frameworks;

using Files = std::map<std::string, std::string>;

inline std::vector<std::string> split(const std::string& text, char mark) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, mark);) out.push_back(part);
  return out;
}

struct Args {
  std::map<std::string, std::string> all;
  [[nodiscard]] bool has(const std::string& name) const { return all.contains("--" + name); }
  [[nodiscard]] std::string text(const std::string& name) const {
    return has(name) ? all.at("--" + name) : "";
  }
  [[nodiscard]] long number(const std::string& name, long otherwise) const {
    return has(name) ? std::stol(all.at("--" + name)) : otherwise;
  }
};

inline Args read_args(const std::string& text) {
  Args args;
  for (const std::string& line : split(text, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t blank = line.find(' ');
    args.all[line.substr(0, blank)] = blank == std::string::npos ? "" : line.substr(blank + 1);
  }
  return args;
}

inline std::string repeated(const std::string& text, long times) {
  std::string out;
  for (long i = 0; i < times; ++i) out += text;
  return out;
}

// Brackets first, then single letters.
inline std::string expanded_layout(std::string text) {
  std::erase(text, ',');
  for (std::size_t open = text.find('('); open != std::string::npos; open = text.find('(')) {
    const std::size_t close = text.find(')', open);
    std::size_t used = 0;
    const long times = std::stol(text.substr(close + 2), &used);
    text = text.substr(0, open) + repeated(text.substr(open + 1, close - open - 1), times) +
           text.substr(close + 2 + used);
  }
  for (std::size_t star = text.find('*'); star != std::string::npos; star = text.find('*')) {
    std::size_t used = 0;
    const long times = std::stol(text.substr(star + 1), &used);
    text =
        text.substr(0, star - 1) + repeated(text.substr(star - 1, 1), times) + text.substr(star + 1 + used);
  }
  return text;
}

// The rank map, against the order of ranks: every device and rank once, coordinates as the order has them,
// local ranks and devices as nodes.txt and the launchers have them.
inline std::string check_placement(const Files& files, long tensor, long context, long pipeline,
                                   bool whole_copies) {
  const std::vector<std::string> rows = split(files.at("placement/rank_map.csv"), '\n');
  const long world = static_cast<long>(rows.size()) - 1;
  const std::vector<std::string> slurm = split(files.at("placement/slurm_hostfile"), '\n');
  const std::vector<std::string> mpi = split(files.at("placement/openmpi_rankfile"), '\n');
  std::map<std::string, std::vector<std::string>> visible;
  std::map<std::string, long> first;
  long next = 0;
  for (const std::string& line : split(files.at("placement/nodes.txt"), '\n')) {
    const std::vector<std::string> words = split(line, ' ');
    if (words[0] == "#") continue;
    visible[words[1]] = split(words[4], ',');
    first[words[1]] = std::stol(words[2]);
    if (static_cast<long>(visible[words[1]].size()) != std::stol(words[3])) return "devices of " + words[1];
    if (files.contains("placement/launch_torchrun.sh") && std::stol(words[2]) != next)
      return "torchrun's ranks";
    next += std::stol(words[3]);
  }
  std::set<std::string> devices;
  const long data = world / (tensor * context * pipeline);
  long sides = 1;
  for (std::size_t r = 1; r < rows.size(); ++r)
    sides = std::max(sides, std::stol(split(rows[r], ',')[7]) + 1);
  for (long r = 0; r < world; ++r) {
    const std::vector<std::string> cells = split(rows[static_cast<std::size_t>(r) + 1], ',');
    const auto cell = [&](std::size_t i) { return std::stol(cells[i]); };
    if (cell(0) != r || !devices.insert(cells[4]).second) return "a rank or device twice";
    if (cell(9) != r % tensor || cell(8) != r / tensor % context) return "tensor or context of a rank";
    const long rest = r / (tensor * context);
    const long stage = whole_copies ? rest % pipeline : rest / data;
    const long at = whole_copies ? rest / pipeline : rest % data;
    if (cell(5) != stage) return "stage of a rank";
    if (cell(7) + sides * cell(6) != at) return "data rank";
    if (visible[cells[1]][static_cast<std::size_t>(cell(2))] != cells[3]) return "local device";
    if (slurm[static_cast<std::size_t>(r)] != cells[1]) return "slurm host";
    if (mpi[static_cast<std::size_t>(r)] != "rank " + cells[0] + "=" + cells[1] + " slot=" + cells[3])
      return "slot";
    if (files.contains("placement/launch_torchrun.sh") && first[cells[1]] + cell(2) != r)
      return "torchrun's rank";
  }
  return "";
}

}  // namespace nest::test
