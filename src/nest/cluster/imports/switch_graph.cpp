#include "nest/cluster/imports/switch_graph.hpp"

#include <algorithm>

#include "nest/cluster/reduce/partitions.hpp"

namespace nest::cluster {

std::int32_t SwitchGraph::add_switch(std::int32_t rank) {
  ranks_.push_back(rank);
  return static_cast<std::int32_t>(ranks_.size()) - 1;
}

void SwitchGraph::attach(std::int32_t host, std::int32_t to) {
  attached_.emplace_back(host, to);
}

void SwitchGraph::join(std::int32_t a, std::int32_t b) {
  joined_.emplace_back(a, b);
}

std::vector<std::vector<std::int32_t>> SwitchGraph::tiers() const {
  const auto rank = [&](std::int32_t s) { return ranks_[static_cast<std::size_t>(s)]; };
  std::int32_t most = 0;
  for (const auto& [host, to] : attached_) most = std::max(most, rank(to));
  for (const auto& [a, b] : joined_) {
    // Links between the first switches themselves make one tier above them.
    most = std::max({most, rank(a), rank(b), std::int32_t{1}});
  }
  UnionFind groups(hosts_ + static_cast<std::int32_t>(ranks_.size()));
  std::vector<std::vector<std::int32_t>> out;
  for (std::int32_t r = 0; r <= most; ++r) {
    for (const auto& [host, to] : attached_) {
      if (rank(to) == r) groups.join(host, hosts_ + to);
    }
    for (const auto& [a, b] : joined_) {
      if (std::max({rank(a), rank(b), std::int32_t{1}}) == r) groups.join(hosts_ + a, hosts_ + b);
    }
    Labels labels = groups.labels();
    labels.resize(static_cast<std::size_t>(hosts_));
    out.push_back(std::move(labels));
  }
  return out;
}

std::vector<std::vector<std::string>> domain_labels(const SwitchGraph& graph) {
  std::vector<std::vector<std::string>> out;
  for (const std::vector<std::int32_t>& tier : graph.tiers()) {
    std::vector<std::string>& texts = out.emplace_back();
    texts.reserve(tier.size());
    for (const std::int32_t domain : tier) texts.push_back(std::to_string(domain));
  }
  return out;
}

}  // namespace nest::cluster
