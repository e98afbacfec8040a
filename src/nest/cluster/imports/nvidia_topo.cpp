#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/cluster/imports/device_links.hpp"
#include "nest/cluster/imports/node_models.hpp"
#include "nest/cluster/imports/nvidia_smi.hpp"
#include "nest/cluster/imports/text_lines.hpp"

namespace nest::cluster {
namespace {

constexpr std::size_t kMostLinks = 1000;

// "GPU0 .. NIC0 .. CPU Affinity ..": the columns up to the affinities.
struct Head {
  std::vector<std::string> columns;
  std::size_t gpus = 0;
  int line = 0;
};

bool is_gpu(std::string_view word) {
  return number_behind(word, "GPU").has_value();
}

bool is_entry(std::string_view word) {
  constexpr std::array<std::string_view, 9> kWords{"X",   "PIX", "PXB", "PHB", "NODE",
                                                   "SYS", "SOC", "QPI", "N/A"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end() ||
         number_behind(word, "NV").has_value();
}

// The head begins with a name as rows do, but no entry follows.
std::optional<Head> head_of(const TextLine& line) {
  const std::vector<std::string_view> words = words_of(line.text);
  if (words.size() < 2 || !is_gpu(words.front()) || is_entry(words[1])) return std::nullopt;
  Head head;
  head.line = line.number;
  for (const std::string_view word : words) {
    if (word == "CPU" || word == "NUMA") break;
    head.columns.emplace_back(word);
    if (is_gpu(word)) ++head.gpus;
  }
  return head;
}

struct Matrix {
  Head head;
  std::vector<std::vector<std::string>> rows;  // of the GPUs: an entry for each column
  std::vector<std::string> chips;              // of the list before the matrix
};

// "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-..)"
std::optional<std::string> listed_chip(std::string_view line) {
  if (!line.starts_with("GPU ")) return std::nullopt;
  const std::size_t colon = line.find(": ");
  const std::size_t end = line.find(" (UUID");
  if (colon == std::string_view::npos || end == std::string_view::npos || end < colon + 2)
    return std::nullopt;
  return std::string(line.substr(colon + 2, end - colon - 2));
}

Matrix read_matrix(const ImportFile& file, std::string_view text) {
  Matrix out;
  std::map<std::string, std::pair<std::vector<std::string>, int>> rows;
  for (const TextLine& line : lines_of(text)) {
    if (const auto chip = listed_chip(trimmed(line.text))) out.chips.push_back(*chip);
    if (out.head.columns.empty()) {
      if (auto head = head_of(line)) out.head = std::move(*head);
      continue;
    }
    const std::vector<std::string_view> words = words_of(line.text);
    if (words.size() < 2 || !is_gpu(words.front())) continue;
    const std::string name(words.front());
    if (rows.contains(name)) continue;  // another matrix follows, as of NUMA distances
    if (words.size() < out.head.columns.size() + 1)
      fail_line(file.name, line.number,
                "the row of " + name + " has " + std::to_string(words.size() - 1) + " entries, the head " +
                    std::to_string(out.head.columns.size()),
                "the lines may have been cut off at the width of a terminal");
    rows[name] = {{words.begin() + 1, words.end()}, line.number};
  }
  if (out.head.columns.empty())
    throw InputError(file.name, "", "no matrix of GPUs",
                     "nvidia-smi topo -m prints one, with the head GPU0 GPU1 ..");
  if (std::set<std::string>(out.head.columns.begin(), out.head.columns.end()).size() <
      out.head.columns.size())
    fail_line(file.name, out.head.line, "two columns have one name");
  if (out.head.gpus > kMostInMatrix)
    fail_line(file.name, out.head.line, std::to_string(out.head.gpus) + " GPUs in one host");
  for (const std::string& column : out.head.columns) {
    if (!is_gpu(column)) continue;
    const auto at = rows.find(column);
    if (at == rows.end()) throw InputError(file.name, "", "the row of " + column + " is missing");
    out.rows.push_back(at->second.first);
  }
  return out;
}

Way read_way(const ImportFile& file, int line, const std::string& entry) {
  if (const auto links = number_behind(entry, "NV");
      links && *links > 0 && static_cast<std::size_t>(*links) <= kMostLinks)
    return {WayKind::links, static_cast<double>(*links)};
  if (entry == "PIX" || entry == "PXB" || entry == "PSB") return {WayKind::bridge, 0};
  if (entry == "PHB" || entry == "P2C" || entry == "C2C") return {WayKind::host_bridge, 0};
  if (entry == "NODE") return {WayKind::node, 0};
  if (entry == "SYS" || entry == "QPI" || entry == "SOC") return {WayKind::system, 0};
  fail_line(file.name, line, "'" + entry + "' is no way between GPUs",
            "nvidia-smi writes NV1.., PIX, PXB, PHB, NODE or SYS");
}

// NICs that are nearest to some GPU: those that its traffic takes.
double used_nics(const Matrix& matrix) {
  static const std::map<std::string, int> kRank{{"PIX", 0}, {"PXB", 1}, {"PHB", 2}, {"NODE", 3}, {"SYS", 4}};
  std::set<std::size_t> used;
  for (const std::vector<std::string>& row : matrix.rows) {
    int best = 5;
    std::size_t nearest = 0;
    for (std::size_t c = 0; c < matrix.head.columns.size(); ++c) {
      const auto rank = is_gpu(matrix.head.columns[c]) ? kRank.end() : kRank.find(row[c]);
      if (rank == kRank.end() || rank->second >= best) continue;
      best = rank->second;
      nearest = c;
    }
    if (best < 5) used.insert(nearest);
  }
  return static_cast<double>(used.size());
}

// NVLinks of a GPU that goes to every other over switches.
struct LinkCount {
  double links;
  const char* accelerator;
  const char* others;
};
constexpr std::array kLinkCounts{LinkCount{18, "h100-sxm", "H200, B200 and GB200 have 18 as well"},
                                 LinkCount{12, "a100-80", "the A100 with 40 GB has 12 as well"},
                                 LinkCount{8, "a800-80", "H800 has 8 as well"},
                                 LinkCount{6, "v100", "16 GB or 32 GB"}};

std::string accelerator_of(const ImportFile& file, const Matrix& matrix, const DeviceLinks& links,
                           ImportNotes& notes) {
  for (const std::string& text : matrix.chips) {
    const Chip* chip = find_chip(text);
    if (chip == nullptr)
      throw InputError(file.name, "", "no figures are known of '" + text + "'",
                       "name a like accelerator with --accelerator");
    if (!chip->assumed.empty()) notes.assumed.push_back(chip->assumed + " for '" + text + "'");
    return chip->accelerator;
  }
  double sum = 0;
  for (std::size_t b = 1; b < links.names.size(); ++b) sum += links.way(0, b).links;
  const double own = links.names.size() > 1 ? links.way(0, 1).links : 0;
  for (const LinkCount& count : kLinkCounts) {
    if (own != count.links && sum != count.links) continue;
    notes.assumed.push_back(std::string(count.accelerator) + " by its " +
                            std::to_string(std::lround(count.links)) + " NVLinks (" + count.others +
                            "); --accelerator says otherwise");
    return count.accelerator;
  }
  throw InputError(file.name, "", "nothing says which GPU this is",
                   "name it with --accelerator, or put the output of nvidia-smi -L before the matrix");
}

}  // namespace

bool is_nvidia_topo(std::string_view text) {
  const std::string plain = without_escapes(text.substr(0, 1 << 16));
  const std::vector<TextLine> lines = lines_of(plain);
  return std::any_of(lines.begin(), lines.end(),
                     [](const TextLine& line) { return head_of(line).has_value(); }) &&
         (holds(plain, "Affinity") || holds(plain, "NV") || holds(plain, "PIX") || holds(plain, "SYS"));
}

ImportFacts read_nvidia_topo(const ImportFile& file, const std::string& accelerator) {
  const std::string plain = without_escapes(file.text);
  const Matrix matrix = read_matrix(file, plain);
  std::vector<std::string> names;
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < matrix.head.columns.size(); ++c) {
    if (!is_gpu(matrix.head.columns[c])) continue;
    names.push_back("gpu" + matrix.head.columns[c].substr(3));
    columns.push_back(c);
  }
  DeviceLinks links = no_links(names);
  for (std::size_t a = 1; a < names.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const Way here = read_way(file, matrix.head.line, matrix.rows[a][columns[b]]);
      const Way there = read_way(file, matrix.head.line, matrix.rows[b][columns[a]]);
      if (here.kind != there.kind || here.links != there.links)
        throw InputError(file.name, "",
                         names[a] + " and " + names[b] + " are joined by " + matrix.rows[a][columns[b]] +
                             " in one row and by " + matrix.rows[b][columns[a]] + " in the other");
      links.way(a, b) = here;
    }
  }
  ImportFacts facts;
  NodeFacts node;
  node.source = own_name(file.name);
  node.accelerator = !accelerator.empty() ? accelerator : accelerator_of(file, matrix, links, facts.notes);
  const double nics = used_nics(matrix);
  if (nics > 0) node.nics = nics;
  set_levels(links, find_accelerator(node.accelerator), node, facts.notes);
  if (matrix.chips.size() > names.size())
    facts.notes.left_out.push_back(
        count_of(static_cast<std::int64_t>(matrix.chips.size() - names.size()), "GPU") +
        " of the list that the matrix does not have");
  facts.notes.known.push_back(count_of(node.devices, "GPU") + " in a host, " +
                              count_of(static_cast<std::int64_t>(std::lround(nics)), "network interface") +
                              " next to them (" + own_name(file.name) + ")");
  facts.node = std::move(node);
  facts.sources.push_back(own_name(file.name) + " (nvidia-smi)");
  return facts;
}

}  // namespace nest::cluster
