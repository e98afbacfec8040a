#include "nest/cluster/imports/host_choice.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "nest/base/closest.hpp"
#include "nest/base/error.hpp"
#include "nest/cluster/name_list.hpp"

namespace nest::cluster {
namespace {

std::string short_name(const std::string& name) {
  return name.substr(0, name.find('.'));
}

std::string source_of(const ImportFacts& facts, bool HostFacts::* flag) {
  const auto at =
      std::find_if(facts.hosts.begin(), facts.hosts.end(), [&](const HostFacts& h) { return h.*flag; });
  return at == facts.hosts.end() ? "" : own_name(at->file);
}

bool any(const ImportFacts& facts, bool HostFacts::* flag) {
  return std::any_of(facts.hosts.begin(), facts.hosts.end(), [&](const HostFacts& h) { return h.*flag; });
}

bool any_common(const ImportFacts& facts) {
  return std::any_of(facts.hosts.begin(), facts.hosts.end(),
                     [](const HostFacts& h) { return h.placed && h.listed; });
}

// One file has "node1.example.org" for what the other calls "node1": they are joined by the first part of the name.
void join_by_short_names(ImportFacts& facts) {
  std::unordered_map<std::string, std::size_t> placed;
  for (std::size_t i = 0; i < facts.hosts.size(); ++i) {
    if (!facts.hosts[i].placed) continue;
    if (!placed.try_emplace(short_name(facts.hosts[i].name), i).second)
      return;  // short names are not their own
  }
  std::vector<HostFacts> kept;
  for (const HostFacts& host : facts.hosts) {
    if (host.placed) continue;
    const auto at = placed.find(short_name(host.name));
    if (at == placed.end()) {
      kept.push_back(host);
      continue;
    }
    HostFacts& own = facts.hosts[at->second];
    if (own.listed) continue;
    HostFacts joined = host;
    joined.name = own.name;
    joined.domains = own.domains;
    joined.placed = true;
    joined.links = own.links.empty() ? host.links : own.links;
    own = std::move(joined);
  }
  std::vector<HostFacts> all;
  for (HostFacts& host : facts.hosts) {
    if (host.placed) all.push_back(std::move(host));
  }
  std::move(kept.begin(), kept.end(), std::back_inserter(all));
  facts.hosts = std::move(all);
}

// Removes hosts, and tells their names.
template <class Leave>
std::vector<std::string> remove(std::vector<HostFacts>& hosts, const Leave& leave) {
  std::vector<std::string> names;
  std::erase_if(hosts, [&](const HostFacts& host) {
    if (!leave(host)) return false;
    names.push_back(host.name.empty() ? "without a name" : host.name);
    return true;
  });
  return names;
}

void keep_common(ImportFacts& facts) {
  if (!any(facts, &HostFacts::placed) || !any(facts, &HostFacts::listed)) return;
  if (!any_common(facts)) join_by_short_names(facts);
  const std::string network = source_of(facts, &HostFacts::placed);
  const std::string list = source_of(facts, &HostFacts::listed);
  if (!any_common(facts)) {
    const auto first = [&](bool HostFacts::* flag) {
      return std::find_if(facts.hosts.begin(), facts.hosts.end(), [&](const HostFacts& h) { return h.*flag; })
          ->name;
    };
    throw InputError(list, "", "none of its hosts is in " + network,
                     "the first of the one is '" + first(&HostFacts::listed) + "', the first of the other '" +
                         first(&HostFacts::placed) + "'");
  }
  const auto unlisted = remove(facts.hosts, [](const HostFacts& h) { return h.placed && !h.listed; });
  if (!unlisted.empty())
    facts.notes.left_out.push_back(count_hosts(unlisted) + " of " + network + ": not in the list of hosts");
  const auto unplaced = remove(facts.hosts, [](const HostFacts& h) { return !h.placed; });
  if (!unplaced.empty()) facts.notes.left_out.push_back(count_hosts(unplaced) + ": not in " + network);
}

void keep_picked(ImportFacts& facts, const std::string& only) {
  if (only.empty()) return;
  const NameList list = expand_names(only, kMostListed);
  if (!list.problem.empty()) throw InputError("--only", "", list.problem);
  const std::set<std::string> wanted(list.names.begin(), list.names.end());
  const auto picked = [&](const HostFacts& h) {
    return wanted.contains(h.name) || wanted.contains(h.type) || wanted.contains(h.chip) ||
           std::any_of(h.groups.begin(), h.groups.end(),
                       [&](const std::string& g) { return wanted.contains(g); });
  };
  std::set<std::string> words;
  for (const HostFacts& h : facts.hosts) {
    words.insert({h.type, h.chip});
    words.insert(h.groups.begin(), h.groups.end());
  }
  words.erase("");
  const auto others = remove(facts.hosts, [&](const HostFacts& h) { return !picked(h); });
  if (facts.hosts.empty()) {
    const std::vector<std::string> known(words.begin(), words.end());
    std::string hint = did_you_mean(list.names.empty() ? only : list.names.front(), known);
    if (hint.empty() && !known.empty()) {
      hint = "it takes names of hosts";
      for (std::size_t i = 0; i < std::min<std::size_t>(known.size(), 6); ++i) hint += ", '" + known[i] + "'";
    }
    throw InputError("--only", "", "no host is called '" + only + "'", hint);
  }
  if (!others.empty()) facts.notes.left_out.push_back(count_hosts(others) + ": not picked by --only");
}

}  // namespace

void choose_hosts(ImportFacts& facts, const std::string& only) {
  if (facts.hosts.empty()) return;
  keep_common(facts);
  keep_picked(facts, only);
  const auto without = remove(facts.hosts, [](const HostFacts& h) { return h.devices && *h.devices == 0; });
  if (!without.empty()) facts.notes.left_out.push_back(count_hosts(without) + ": without accelerators");
  if (facts.hosts.empty())
    throw InputError(facts.sources.empty() ? "" : facts.sources.front(), "", "no host has accelerators",
                     without.empty() ? "" : "Slurm calls them GRES, Kubernetes nvidia.com/gpu and the like");
}

}  // namespace nest::cluster
