#include "nest/cluster/imports/rocm_smi.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"
#include "nest/cluster/imports/device_links.hpp"
#include "nest/cluster/imports/json_facts.hpp"
#include "nest/cluster/imports/node_models.hpp"
#include "nest/cluster/imports/text_lines.hpp"

namespace nest::cluster {
namespace {

constexpr auto kMostRow = static_cast<std::int64_t>(kMostInMatrix);
constexpr std::int64_t kMostHops = 64;

using Pair = std::pair<std::int64_t, std::int64_t>;

struct Topology {
  std::int64_t devices = 0;
  std::map<Pair, std::string> types;  // "XGMI", "PCIE"
  std::map<Pair, std::int64_t> hops;
  std::string product;
};

enum class Section { none, type, hops };

// A row "GPU1   XGMI   0   ..": its number and its entries.
void read_row(const ImportFile& file, const TextLine& line, Section section, Topology& out) {
  const std::vector<std::string_view> words = words_of(line.text);
  const auto row = words.empty() ? std::nullopt : number_behind(words.front(), "GPU");
  if (!row || words.size() < 2 || number_behind(words[1], "GPU")) return;
  if (*row >= kMostRow || words.size() > kMostInMatrix + 1)
    fail_line(file.name, line.number, "more than 64 GPUs in one host");
  out.devices = std::max(out.devices, *row + 1);
  for (std::size_t c = 1; c < words.size(); ++c) {
    const Pair at{*row, static_cast<std::int64_t>(c) - 1};
    if (at.first == at.second) continue;
    if (section == Section::type) out.types[at] = words[c];
    if (section == Section::hops) {
      if (const auto hops = digits_of(words[c]); hops && *hops > 0 && *hops <= kMostHops)
        out.hops[at] = *hops;
    }
  }
}

Topology read_text(const ImportFile& file) {
  Topology out;
  Section section = Section::none;
  for (const TextLine& line : lines_of(file.text)) {
    if (trimmed(line.text).starts_with("==")) {
      section = holds(line.text, "Link Type")      ? Section::type
                : holds(line.text, "Hops between") ? Section::hops
                                                   : Section::none;
      continue;
    }
    for (const char* key : {"Card Series:", "Card series:", "Card Model:", "Card model:"}) {
      const std::size_t at = line.text.find(key);
      if (at != std::string_view::npos && out.product.empty() &&
          find_chip(trimmed(line.text.substr(at + 12))) != nullptr)
        out.product = trimmed(line.text.substr(at + 12));
    }
    if (section != Section::none) read_row(file, line, section, out);
  }
  return out;
}

// "(Topology) Link type between DRM devices 0 and 1": "XGMI"
std::optional<Pair> pair_in(std::string_view key) {
  const std::size_t at = key.find("devices ");
  if (at == std::string_view::npos) return std::nullopt;
  const std::vector<std::string_view> words = words_of(key.substr(at + 8));
  if (words.size() < 3) return std::nullopt;
  const auto a = digits_of(words[0]);
  const auto b = digits_of(words[2]);
  if (!a || !b || *a >= kMostRow || *b >= kMostRow || *a == *b) return std::nullopt;
  return Pair{*a, *b};
}

Topology read_json(const ImportFile& file) {
  const Document document = parse_document(file.name, file.text);
  Topology out;
  const Value* system = document.root.find("system");
  if (system == nullptr || system->as_object() == nullptr) return out;
  for (const auto& [key, value] : *system->as_object()) {
    const auto pair = pair_in(key);
    if (!pair) continue;
    const Pair back{pair->second, pair->first};
    out.devices = std::max({out.devices, pair->first + 1, pair->second + 1});
    if (holds(key, "Link type")) out.types[*pair] = out.types[back] = text_of(&value);
    if (holds(key, "Hops")) {
      if (const auto hops = digits_of(text_of(&value)); hops && *hops > 0 && *hops <= kMostHops)
        out.hops[*pair] = out.hops[back] = *hops;
    }
  }
  return out;
}

Way way_of(const ImportFile& file, const Topology& topology, Pair at) {
  const auto type = topology.types.find(at);
  const std::string names = "GPU" + std::to_string(at.second) + " and GPU" + std::to_string(at.first);
  if (type == topology.types.end()) throw InputError(file.name, "", "no link type between " + names);
  const auto hops = topology.hops.find(at);
  const double count = hops == topology.hops.end() ? 1 : static_cast<double>(hops->second);
  if (type->second == "XGMI") return {WayKind::links, 1 / count};
  if (type->second == "PCIE") return {count > 2 ? WayKind::system : WayKind::host_bridge, 0};
  throw InputError(file.name, "", "the link between " + names + " is '" + type->second + "'",
                   "XGMI or PCIE is expected");
}

}  // namespace

bool is_rocm_topo(std::string_view text) {
  return holds(text, "Link Type between two GPUs") || holds(text, "Link type between DRM devices");
}

ImportFacts read_rocm_topo(const ImportFile& file, const std::string& accelerator) {
  const std::string_view begin = trimmed(std::string_view(file.text).substr(0, 64));
  const Topology topology = begin.starts_with('{') ? read_json(file) : read_text(file);
  if (topology.devices == 0 || (topology.devices > 1 && topology.types.empty()))
    throw InputError(file.name, "", "no table of link types",
                     "rocm-smi --showtopo prints 'Link Type between two GPUs'");
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(topology.devices));
  for (std::int64_t d = 0; d < topology.devices; ++d) names.push_back("gpu" + std::to_string(d));
  DeviceLinks links = no_links(names);
  for (std::int64_t a = 1; a < topology.devices; ++a) {
    for (std::int64_t b = 0; b < a; ++b)
      links.way(static_cast<std::size_t>(a), static_cast<std::size_t>(b)) = way_of(file, topology, {a, b});
  }
  ImportFacts facts;
  NodeFacts node;
  node.source = own_name(file.name);
  node.accelerator = accelerator;
  if (node.accelerator.empty() && !topology.product.empty())
    node.accelerator = find_chip(topology.product)->accelerator;
  if (node.accelerator.empty()) {
    node.accelerator = "mi300x";
    facts.notes.assumed.push_back("mi300x: rocm-smi --showtopo names no GPU; --accelerator says otherwise");
  }
  set_levels(links, find_accelerator(node.accelerator), node, facts.notes);
  facts.notes.known.push_back(count_of(node.devices, "GPU") + " in a host (" + own_name(file.name) + ")");
  facts.node = std::move(node);
  facts.sources.push_back(own_name(file.name) + " (rocm-smi)");
  return facts;
}

}  // namespace nest::cluster
