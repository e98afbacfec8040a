#include "nest/cluster/imports/topograph.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"
#include "nest/cluster/imports/json_facts.hpp"

namespace nest::cluster {
namespace {

constexpr std::size_t kMostLayers = 16;
// Labels that name the domain of links between accelerators, of topograph 1.0 and of earlier ones.
constexpr std::array<std::string_view, 3> kDomains{
    "accelerator.topograph.run/domain", "nvidia.com/gpu.clique", "network.topology.nvidia.com/accelerator"};

void read_labels(const Value& labels, HostFacts& host) {
  if (labels.as_object() == nullptr) return;
  for (const std::string_view key : kDomains) {
    if (host.links.empty()) host.links = text_of(labels.find(key));
  }
  host.type = text_of(labels.find("node.kubernetes.io/instance-type"));
  for (const auto& [key, value] : *labels.as_object()) {
    if (key.ends_with("gpu.product") || key.ends_with("gpu-product")) host.chip = text_of(&value);
  }
}

}  // namespace

bool is_topograph(std::string_view text) {
  return has_key(text, "network_layers");
}

ImportFacts read_topograph(const ImportFile& file) {
  const Document document = parse_document(file.name, file.text);
  ImportFacts facts;
  std::size_t layers = 0;
  for (const Entry& entry : entries_of(document, {"instances"})) {
    const std::string id = text_of(entry.value->find("id"));
    if (id.empty())
      fail_entry(document, entry, "an instance without 'id'", "topograph's engine 'graph' writes them");
    HostFacts& host = facts.host(id, file.name, 0);
    if (host.placed) fail_entry(document, entry, "the instance '" + id + "' is listed twice");
    host.placed = true;
    if (const Value* labels = entry.value->find("labels")) read_labels(*labels, host);
    const Value* list = entry.value->find("network_layers");
    if (list == nullptr || list->is_null()) continue;
    if (list->as_array() == nullptr || list->as_array()->size() > kMostLayers)
      fail_entry(document, entry, "'network_layers' is a list of switches, the nearest first");
    for (const Value& layer : *list->as_array()) host.domains.push_back(text_of(&layer));
    layers = std::max(layers, host.domains.size());
  }
  if (facts.hosts.empty()) throw InputError(file.name, "", "the list of instances is empty");
  for (std::size_t t = 0; t < layers; ++t) {
    TierFacts tier;
    tier.name = usual_tier_name(t);
    facts.tiers.push_back(std::move(tier));
  }
  facts.sources.push_back(own_name(file.name) + " (topograph)");
  facts.notes.known.push_back(count_of(static_cast<std::int64_t>(facts.hosts.size()), "host") + " below " +
                              count_of(static_cast<std::int64_t>(layers), "tier") + " of switches (" +
                              own_name(file.name) + ")");
  return facts;
}

}  // namespace nest::cluster
