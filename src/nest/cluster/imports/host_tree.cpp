#include "nest/cluster/imports/host_tree.hpp"

#include <numeric>
#include <unordered_map>
#include <utility>

namespace nest::cluster {
namespace {

std::size_t index(std::int32_t i) {
  return static_cast<std::size_t>(i);
}

// No host's label is like this.
std::string own_label(std::size_t host) {
  return "\n" + std::to_string(host);
}

void fill_gaps(std::vector<std::vector<std::string>>& labels) {
  for (std::size_t t = 0; t < labels.size(); ++t) {
    std::unordered_map<std::string, std::string> outer;  // by the label of the tier inside
    if (t > 0) {
      for (std::size_t h = 0; h < labels[t].size(); ++h) {
        if (!labels[t][h].empty()) outer.try_emplace(labels[t - 1][h], labels[t][h]);
      }
    }
    for (std::size_t h = 0; h < labels[t].size(); ++h) {
      if (!labels[t][h].empty()) continue;
      const auto like = t > 0 ? outer.find(labels[t - 1][h]) : outer.end();
      labels[t][h] = like != outer.end() ? like->second : t > 0 ? "\n" + labels[t - 1][h] : own_label(h);
    }
  }
}

}  // namespace

HostTree make_host_tree(std::vector<std::vector<std::string>> labels, std::int32_t hosts) {
  fill_gaps(labels);
  HostTree tree;
  tree.sizes.resize(labels.size());
  std::vector<std::int32_t> all(index(hosts));
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::vector<std::int32_t>> groups{std::move(all)};
  for (std::size_t t = labels.size(); t-- > 0;) {
    std::vector<std::vector<std::int32_t>> inner;
    std::vector<std::int32_t> counts;
    for (const std::vector<std::int32_t>& group : groups) {
      std::unordered_map<std::string, std::size_t> known;
      const std::size_t before = inner.size();
      for (const std::int32_t host : group) {
        const auto [at, fresh] = known.try_emplace(labels[t][index(host)], inner.size());
        if (fresh) inner.emplace_back();
        inner[at->second].push_back(host);
      }
      counts.push_back(static_cast<std::int32_t>(inner.size() - before));
    }
    // What the domains one tier further out have: the outermost ones are counted by whoever joins them.
    if (t + 1 < labels.size()) tree.sizes[t + 1] = std::move(counts);
    groups = std::move(inner);
  }
  if (!labels.empty()) {
    for (const std::vector<std::int32_t>& group : groups) {
      tree.sizes.front().push_back(static_cast<std::int32_t>(group.size()));
      tree.order.insert(tree.order.end(), group.begin(), group.end());
    }
  } else {
    tree.order = std::move(groups.front());
  }
  return tree;
}

bool nested_in(const std::vector<std::string>& inner, const std::vector<std::string>& outer) {
  std::unordered_map<std::string, std::string> first;
  for (std::size_t h = 0; h < inner.size(); ++h) {
    if (inner[h].empty() || outer[h].empty()) continue;
    if (first.try_emplace(inner[h], outer[h]).first->second != outer[h]) return false;
  }
  return true;
}

}  // namespace nest::cluster
