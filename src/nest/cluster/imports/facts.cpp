#include "nest/cluster/imports/facts.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "nest/base/plain_text.hpp"

namespace nest::cluster {
namespace {

void append(std::vector<std::string>& into, const std::vector<std::string>& from) {
  for (const std::string& text : from) {
    if (std::find(into.begin(), into.end(), text) == into.end()) into.push_back(text);
  }
}

void take(std::string& into, std::string&& from) {
  if (into.empty()) into = std::move(from);
}

void take_host(HostFacts& into, HostFacts from, bool tiers) {
  take(into.type, std::move(from.type));
  take(into.chip, std::move(from.chip));
  take(into.out, std::move(from.out));
  take(into.links, std::move(from.links));
  take(into.slice, std::move(from.slice));
  if (!into.devices) into.devices = from.devices;
  append(into.groups, from.groups);
  if (tiers && into.domains.empty()) into.domains = std::move(from.domains);
  into.placed = into.placed || (tiers && from.placed);
  into.listed = into.listed || from.listed;
}

// Two files about the same host: each says what it knows, and links that somebody measured go before usual ones.
void merge_node(NodeFacts& into, NodeFacts from) {
  if (into.accelerator.empty()) into.accelerator = std::move(from.accelerator);
  if (into.device_names.empty() && !from.levels.empty()) {
    into.levels = std::move(from.levels);
    into.device_names = std::move(from.device_names);
    into.devices = from.devices;
    into.source = std::move(from.source);
  }
  if (into.devices == 0) into.devices = from.devices;
  if (!into.network) into.network = from.network;
  if (!into.nics) into.nics = from.nics;
  if (into.fabric.empty()) into.fabric = std::move(from.fabric);
  if (!into.latency) into.latency = from.latency;
  if (into.noun == "host") into.noun = std::move(from.noun);
  into.whole_cluster = into.whole_cluster || from.whole_cluster;
}

bool same_tiers(const std::vector<TierFacts>& a, const std::vector<TierFacts>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const TierFacts& x, const TierFacts& y) { return x.name == y.name; });
}

}  // namespace

std::string HostFacts::place() const {
  if (line > 0) return "line " + std::to_string(line);
  return name.empty() ? "" : "host '" + printable(name) + "'";
}

void ImportNotes::add(const ImportNotes& other) {
  append(known, other.known);
  append(assumed, other.assumed);
  append(left_out, other.left_out);
}

HostFacts& ImportFacts::host(const std::string& host_name, const std::string& file, int line) {
  const auto [at, fresh] = index_.try_emplace(host_name, hosts.size());
  if (fresh) {
    hosts.emplace_back();
    hosts.back().name = host_name;
    hosts.back().file = file;
    hosts.back().line = line;
  }
  return hosts[at->second];
}

const HostFacts* ImportFacts::find(const std::string& host_name) const {
  const auto at = index_.find(host_name);
  return at == index_.end() ? nullptr : &hosts[at->second];
}

void merge(ImportFacts& into, ImportFacts from) {
  take(into.name, std::move(from.name));
  append(into.sources, from.sources);
  into.notes.add(from.notes);
  const bool links =
      std::any_of(from.hosts.begin(), from.hosts.end(), [](const HostFacts& h) { return !h.links.empty(); });
  if (links && from.links_assumed.empty() && !into.links_assumed.empty()) {
    // What is known goes before what was taken for it.
    into.links_assumed.clear();
    for (HostFacts& host : into.hosts) host.links.clear();
  }
  if (into.hosts.empty()) into.links_assumed = std::move(from.links_assumed);
  if (from.node && into.node) {
    merge_node(*into.node, std::move(*from.node));
  } else if (from.node) {
    into.node = std::move(from.node);
  }
  into.counted_by = std::max(into.counted_by, from.counted_by);
  if (from.count) into.count = from.count.value() + into.count.value_or(0);
  bool tiers = true;
  if (into.tiers.empty()) {
    into.tiers = std::move(from.tiers);
  } else if (!from.tiers.empty() && !same_tiers(into.tiers, from.tiers)) {
    tiers = false;
    into.notes.left_out.push_back("what " +
                                  (from.sources.empty() ? std::string("a file") : from.sources.front()) +
                                  " says of the network: another file says it already");
  }
  for (HostFacts& host : from.hosts) {
    if (host.name.empty()) {
      into.hosts.push_back(std::move(host));
      continue;
    }
    HostFacts& known = into.host(host.name, host.file, host.line);
    take_host(known, std::move(host), tiers);
  }
}

std::string count_hosts(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  std::string out = count_of(static_cast<std::int64_t>(names.size()), "host") + " (";
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) out += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kShown) out += ", ..";
  return out + ")";
}

std::string own_name(const std::string& file) {
  return file.substr(file.find_last_of("/\\") + 1);
}

std::string usual_tier_name(std::size_t tier) {
  constexpr std::array kNames{"leaf", "spine", "core"};
  return tier < kNames.size() ? kNames[tier] : "tier" + std::to_string(tier + 1);
}

}  // namespace nest::cluster
