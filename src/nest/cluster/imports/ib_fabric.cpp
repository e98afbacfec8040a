#include "nest/cluster/imports/ib_fabric.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/cluster/imports/switch_graph.hpp"

namespace nest::cluster {
namespace {

constexpr std::int32_t kMostRank = 7;

class Maker {
 public:
  Maker(const IbFabric& fabric, const std::string& file) : fabric_(fabric), file_(file) {}

  ImportFacts make() {
    find_leaves();
    find_ranks();
    gather_hosts();
    if (facts_.hosts.empty())
      throw InputError(file_, "", "no host is attached to a switch",
                       "lines of hosts are like: [1] \"H-..\"[1](..) # \"node001 mlx5_0\" lid 647 4xNDR");
    SwitchGraph graph(static_cast<std::int32_t>(facts_.hosts.size()));
    for (const auto& rank : ranks_) static_cast<void>(graph.add_switch(rank.value_or(0)));
    for (const auto& [host, at] : attached_) graph.attach(host, static_cast<std::int32_t>(at));
    for (std::size_t s = 0; s < fabric_.switches.size(); ++s) {
      for (const IbFabric::Uplink& link : fabric_.switches[s].links) {
        if (ranks_[s] && ranks_[link.to])
          graph.join(static_cast<std::int32_t>(s), static_cast<std::int32_t>(link.to));
      }
    }
    tiers_ = graph.tiers();
    for (std::size_t t = 0; t < tiers_.size(); ++t) {
      TierFacts tier;
      tier.name = usual_tier_name(t);
      tier.host_bandwidth = BytesPerSecond{usual_rate()};
      tier.oversubscription = t == 0 ? 1 : oversubscription(t);
      tier.oversubscription_known = true;
      facts_.tiers.push_back(std::move(tier));
      for (std::size_t h = 0; h < facts_.hosts.size(); ++h)
        facts_.hosts[h].domains.push_back(std::to_string(tiers_[t][h]));
    }
    say();
    return std::move(facts_);
  }

 private:
  // A server for storage or management on a spine makes it no leaf: its neighbours have more hosts.
  void find_leaves() {
    const auto& all = fabric_.switches;
    for (std::size_t s = 0; s < all.size(); ++s) {
      bool leaf = !all[s].hosts.empty();
      if (leaf && !all[s].links.empty()) {
        const auto more = std::count_if(
            all[s].links.begin(), all[s].links.end(),
            [&](const IbFabric::Uplink& link) { return all[link.to].hosts.size() > all[s].hosts.size(); });
        leaf = 2 * static_cast<std::size_t>(more) <= all[s].links.size();
      }
      leaves_.push_back(leaf);
    }
  }

  void find_ranks() {
    ranks_.assign(fabric_.switches.size(), std::nullopt);
    std::vector<std::vector<std::size_t>> neighbours(fabric_.switches.size());
    for (std::size_t s = 0; s < fabric_.switches.size(); ++s) {
      for (const IbFabric::Uplink& link : fabric_.switches[s].links) {
        neighbours[s].push_back(link.to);
        neighbours[link.to].push_back(s);
      }
    }
    std::vector<std::size_t> front;
    for (std::size_t s = 0; s < leaves_.size(); ++s) {
      if (!leaves_[s]) continue;
      ranks_[s] = 0;
      front.push_back(s);
    }
    for (std::int32_t rank = 1; !front.empty() && rank <= kMostRank; ++rank) {
      std::vector<std::size_t> next;
      for (const std::size_t s : front) {
        for (const std::size_t n : neighbours[s]) {
          if (ranks_[n]) continue;
          ranks_[n] = rank;
          next.push_back(n);
        }
      }
      front = std::move(next);
    }
  }

  void gather_hosts() {
    std::map<std::string, std::int32_t> named;
    std::map<std::string, std::set<std::string>> adapters;
    for (const IbFabric::Switch& own : fabric_.switches) {
      for (const IbFabric::Adapter& a : own.hosts) {
        if (!a.host.empty()) adapters[a.host].insert(a.id);
      }
    }
    // An adapter without a name is a host of its own only where every host has one adapter.
    const bool single =
        std::all_of(adapters.begin(), adapters.end(), [](const auto& a) { return a.second.size() == 1; });
    std::int64_t unnamed = 0;
    std::vector<std::string> aside;
    for (std::size_t s = 0; s < fabric_.switches.size(); ++s) {
      for (const IbFabric::Adapter& a : fabric_.switches[s].hosts) {
        if (a.host.empty() && !single) {
          ++unnamed;
          continue;
        }
        const std::string name = a.host.empty() ? a.id : a.host;
        if (!leaves_[s]) {
          aside.push_back(name);
          continue;
        }
        const auto [at, fresh] = named.try_emplace(name, static_cast<std::int32_t>(facts_.hosts.size()));
        if (fresh) {
          facts_.host(name, file_, a.line).placed = true;
          rates_.push_back(0);
          links_.push_back(0);
        }
        rates_[static_cast<std::size_t>(at->second)] += a.rate;
        ++links_[static_cast<std::size_t>(at->second)];
        attached_.emplace_back(at->second, s);
        if (a.host.empty()) nameless_.push_back(name);
      }
    }
    if (unnamed > 0)
      facts_.notes.left_out.push_back(count_of(unnamed, "adapter") + " that no host has named (" +
                                      own_name(file_) + ")");
    if (!aside.empty()) facts_.notes.left_out.push_back(count_hosts(aside) + ": attached above the leaves");
  }

  [[nodiscard]] double usual_rate() const {
    std::map<double, int> counts;
    for (const double rate : rates_) ++counts[rate];
    // Of equally frequent ones the greatest.
    return std::max_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) {
                              return std::pair(a.second, a.first) < std::pair(b.second, b.first);
                            })
        ->first;
  }

  // Over the domains of the tier inside: what their hosts can send, over what leads out of them.
  [[nodiscard]] double oversubscription(std::size_t tier) const {
    std::map<std::int32_t, double> hosts;
    std::map<std::int32_t, double> up;
    for (std::size_t h = 0; h < rates_.size(); ++h) hosts[tiers_[tier - 1][h]] += rates_[h];
    std::vector<std::optional<std::int32_t>> domain(fabric_.switches.size());
    for (const auto& [host, at] : attached_) domain[at] = tiers_[tier - 1][static_cast<std::size_t>(host)];
    spread(domain, static_cast<std::int32_t>(tier) - 1);
    for (std::size_t s = 0; s < fabric_.switches.size(); ++s) {
      if (!domain[s]) continue;
      for (const IbFabric::Uplink& link : fabric_.switches[s].links) {
        if (ranks_[link.to] && domain[link.to] != domain[s]) up[*domain[s]] += link.rate;
      }
    }
    double worst = 1;
    for (const auto& [d, rate] : hosts) {
      const auto own = up.find(d);
      if (own != up.end() && own->second > 0) worst = std::max(worst, rate / own->second);
    }
    return worst;
  }

  // Switches of rank up to `rank` lie in the domain of those below them.
  void spread(std::vector<std::optional<std::int32_t>>& domain, std::int32_t rank) const {
    for (std::int32_t r = 1; r <= rank; ++r) {
      for (std::size_t s = 0; s < fabric_.switches.size(); ++s) {
        for (const IbFabric::Uplink& link : fabric_.switches[s].links) {
          if (ranks_[link.to] == r && domain[s] && !domain[link.to]) domain[link.to] = domain[s];
          if (ranks_[s] == r && domain[link.to] && !domain[s]) domain[s] = domain[link.to];
        }
      }
    }
  }

  void say() {
    const auto hosts = static_cast<std::int64_t>(facts_.hosts.size());
    const auto leaves = std::count(leaves_.begin(), leaves_.end(), true);
    const auto others = static_cast<std::int64_t>(fabric_.switches.size()) - leaves;
    facts_.notes.known.push_back(count_of(hosts, "host") + " at " + format_digits(leaves) +
                                 (leaves == 1 ? " leaf switch, " : " leaf switches, ") +
                                 format_digits(others) + (others == 1 ? " switch" : " switches") +
                                 " above (" + own_name(file_) + ")");
    std::map<int, int> counts;
    for (const int links : links_) ++counts[links];
    const int usual = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
                        return a.second < b.second;
                      })->first;
    facts_.notes.known.push_back(count_of(usual, "link") + " of " +
                                 format(BytesPerSecond{usual_rate() / usual}) + " from a host");
    std::vector<std::string> slower;
    for (std::size_t h = 0; h < rates_.size(); ++h) {
      if (rates_[h] < usual_rate() * 0.999) slower.push_back(facts_.hosts[h].name);
    }
    if (!slower.empty())
      facts_.notes.assumed.push_back("the network of the others for hosts with fewer or slower links: " +
                                     count_hosts(slower));
    if (!nameless_.empty())
      facts_.notes.known.push_back("called by the numbers of their adapters, which nobody named: " +
                                   count_hosts(nameless_));
    if (fabric_.reduces)
      facts_.notes.known.push_back(
          "switches can add up (SHARP): in_network_reduction says so where NCCL uses it");
  }

  const IbFabric& fabric_;
  const std::string& file_;
  ImportFacts facts_;
  std::vector<bool> leaves_;
  std::vector<std::optional<std::int32_t>> ranks_;  // none: no way leads there from a leaf
  std::vector<std::pair<std::int32_t, std::size_t>> attached_;
  std::vector<double> rates_;  // by host
  std::vector<int> links_;
  std::vector<std::string> nameless_;
  std::vector<std::vector<std::int32_t>> tiers_;
};

}  // namespace

ImportFacts facts_of(const IbFabric& fabric, const std::string& file) {
  return Maker(fabric, file).make();
}

}  // namespace nest::cluster
