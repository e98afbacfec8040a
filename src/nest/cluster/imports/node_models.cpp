#include "nest/cluster/imports/node_models.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "nest/base/document/document.hpp"
#include "nest/base/document/reader.hpp"
#include "nest/base/plain_text.hpp"
#include "nest/cluster/embedded_files.hpp"

namespace nest::cluster {
namespace {

struct NodeTable {
  ImportDefaults defaults;
  std::map<std::string, BytesPerSecond> links;  // by fabric
  std::vector<BytesPerSecond> pcie;             // by generation
  std::vector<Chip> chips;
  std::vector<NodeModel> nodes;
};

std::vector<std::string> texts(Reader& r, const std::string& key) {
  std::vector<std::string> out;
  const Value* list = r.find(key);
  if (list == nullptr) return out;
  if (list->as_array() == nullptr) r.fail_at(key, "a list of texts is expected");
  for (const Value& item : *list->as_array()) {
    if (item.as_string() == nullptr) r.fail_at(key, "a list of texts is expected");
    out.push_back(*item.as_string());
  }
  return out;
}

bool read_slots(Reader& r) {
  return r.has("links") && r.text("links") == "pcie";
}

Chip read_chip(Reader& r) {
  Chip chip;
  chip.words = texts(r, "words");
  chip.accelerator = find_accelerator(r.text("accelerator")).name;
  chip.pci = texts(r, "pci");
  chip.vendor = r.text("vendor");
  chip.assumed = r.text_or("assumed", "");
  chip.slots = read_slots(r);
  chip.pcie = static_cast<int>(r.whole("pcie", {1, 6}));
  r.done();
  return chip;
}

NodeModel read_node(Reader& r) {
  NodeModel node;
  node.names = texts(r, "names");
  node.vendor = r.text("vendor");
  node.accelerator = find_accelerator(r.text("accelerator")).name;
  node.devices = static_cast<std::int32_t>(r.whole("devices", {1, 1024}));
  if (r.has("network")) node.network = r.bandwidth("network");
  node.fabric = r.text_or("fabric", "");
  if (r.has("latency")) node.latency = r.time("latency");
  if (r.has("levels")) {
    for (Reader& level : r.objects("levels")) node.levels.push_back(read_level(level));
  }
  node.slots = read_slots(r);
  node.unit = static_cast<std::int32_t>(r.whole_or("unit", 0, {1, 65536}));
  node.domain = static_cast<std::int32_t>(r.whole_or("domain", 0, {1, 65536}));
  node.checked = r.boolean_or("checked", true);
  node.note = r.prose_or("note", "");
  r.done();
  return node;
}

ImportDefaults read_defaults(Reader r) {
  ImportDefaults out;
  out.accelerator = find_accelerator(r.text("accelerator")).name;
  out.devices = static_cast<std::int32_t>(r.whole("devices", {1, 1024}));
  out.network = r.bandwidth("network");
  out.inner_latency = r.time("inner_latency");
  out.pcie_latency = r.time("pcie_latency");
  out.network_latency = r.time("network_latency");
  out.tier_latency = r.time("tier_latency");
  out.zone_latency = r.time("zone_latency");
  out.region_latency = r.time("region_latency");
  r.done();
  return out;
}

NodeTable read_table() {
  const Document document = parse_document("data/nodes.yaml", std::string(node_files().front().text));
  Reader r(document);
  NodeTable out;
  static_cast<void>(r.text("date"));
  out.defaults = read_defaults(r.object("defaults"));
  Reader links = r.object("nvlinks");
  for (const std::string& fabric : links.keys()) out.links[fabric] = links.bandwidth(fabric);
  for (const Value& rate : *r.find("pcie")->as_array())
    out.pcie.push_back(parse_bandwidth(*rate.as_string()).value());
  for (Reader& chip : r.objects("chips")) out.chips.push_back(read_chip(chip));
  for (Reader& node : r.objects("nodes")) out.nodes.push_back(read_node(node));
  r.done();
  return out;
}

const NodeTable& table() {
  static const NodeTable kTable = read_table();
  return kTable;
}

bool letter_or_digit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// A word that nothing goes before and no digit follows: "a100" is in "A100-SXM4", and not in "RTX A1000".
bool holds_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || !letter_or_digit(text[at - 1]);
    const bool ends = end == text.size() || std::isdigit(static_cast<unsigned char>(text[end])) == 0;
    if (begins && ends) return true;
  }
  return false;
}

}  // namespace

const ImportDefaults& import_defaults() {
  return table().defaults;
}

std::span<const NodeModel> node_models() {
  return table().nodes;
}

const NodeModel* find_node_model(std::string_view name) {
  const std::string wanted = lower_case(name);
  for (const NodeModel& node : table().nodes) {
    for (const std::string& own : node.names) {
      if (lower_case(own) == wanted) return &node;
    }
  }
  return nullptr;
}

const Chip* find_chip(std::string_view name) {
  const std::string text = lower_case(name);
  for (const Chip& chip : table().chips) {
    if (std::all_of(chip.words.begin(), chip.words.end(),
                    [&](const std::string& word) { return holds_word(text, word); }))
      return &chip;
  }
  return nullptr;
}

const Chip* find_chip_by_pci(std::string_view number) {
  const std::string wanted = lower_case(number);
  for (const Chip& chip : table().chips) {
    if (std::find(chip.pci.begin(), chip.pci.end(), wanted) != chip.pci.end()) return &chip;
  }
  return nullptr;
}

const Chip* chip_of(const std::string& accelerator) {
  const Chip* found = nullptr;
  for (const Chip& chip : table().chips) {
    if (chip.accelerator != accelerator) continue;
    // Some are sold in two forms: links are what the accelerator's figures are about.
    if (found == nullptr || (found->slots && !chip.slots)) found = &chip;
  }
  return found;
}

std::optional<BytesPerSecond> rate_of_link(const Accelerator& accelerator) {
  const auto at = table().links.find(accelerator.scale_up.fabric);
  if (at == table().links.end()) return std::nullopt;
  return at->second;
}

BytesPerSecond pcie_rate(int generation) {
  const std::vector<BytesPerSecond>& rates = table().pcie;
  const auto known = static_cast<int>(rates.size());
  return rates[static_cast<std::size_t>(std::clamp(generation, 1, known - 1))];
}

int usual_pcie(const Accelerator& accelerator) {
  constexpr int kUsual = 5;
  const Chip* chip = chip_of(accelerator.base.empty() ? accelerator.name : accelerator.base);
  return chip == nullptr ? kUsual : chip->pcie;
}

Level level_of_links(const Accelerator& accelerator, std::int32_t devices) {
  const BytesPerSecond links = accelerator.scale_up_bandwidth.value_or(pcie_rate(usual_pcie(accelerator)));
  Level level{.name = "node", .bandwidth = links, .latency = import_defaults().inner_latency};
  level.fan_out.size = devices;
  level.in_network_reduction = accelerator.scale_up.reduction;
  if (accelerator.scale_up.point_to_point) level.kind = LevelKind::fully_connected;
  return level;
}

Level level_of_slots(std::int32_t devices, int generation) {
  Level level{.name = "node", .bandwidth = pcie_rate(generation), .latency = import_defaults().pcie_latency};
  level.fan_out.size = devices;
  level.fabric = "pcie";
  return level;
}

}  // namespace nest::cluster
