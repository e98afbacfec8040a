#include "nest/cluster/sibling_order.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace nest::cluster {
namespace {

std::size_t index(std::int32_t i) {
  return static_cast<std::size_t>(i);
}

// Domains of one level: which look alike inside, and their children in order.
struct Tier {
  std::vector<std::int32_t> kind;  // by domain: larger ones have larger numbers; empty: all are alike
  std::vector<std::vector<std::int32_t>> children;  // by domain, as domains of the level below
};

// Devices first, so that a larger domain comes before a smaller one whatever its structure.
using Look = std::pair<std::int32_t, std::vector<std::int32_t>>;

Tier look_at(const Level& level, LevelId id, const DeviceTree& tree, const Tier& below) {
  Tier tier;
  if (tree.regular(id)) return tier;
  const std::int32_t domains = tree.domains(id);
  std::map<Look, std::int32_t> kinds;
  std::vector<const Look*> look(index(domains));
  tier.children.resize(index(domains));
  for (std::int32_t d = 0; d < domains; ++d) {
    std::vector<std::int32_t>& children = tier.children[index(d)];
    children.resize(index(tree.children(id, d)));
    std::iota(children.begin(), children.end(), tree.first_child(id, d));
    Look own{tree.devices_in(id, d), {}};
    if (!below.kind.empty()) {
      const auto kind = [&](std::int32_t child) { return below.kind[index(child)]; };
      if (!level.hops_through_children()) {
        std::sort(children.begin(), children.end(), [&](std::int32_t a, std::int32_t b) {
          return kind(a) != kind(b) ? kind(a) > kind(b) : a < b;
        });
      }
      for (const std::int32_t child : children) own.second.push_back(kind(child));
    }
    look[index(d)] = &kinds.try_emplace(std::move(own), 0).first->first;
  }
  std::int32_t number = 0;
  for (auto& [known, kind] : kinds) kind = number++;
  for (const Look* own : look) tier.kind.push_back(kinds.at(*own));
  return tier;
}

}  // namespace

std::optional<SiblingOrder> find_sibling_order(std::span<const Level> levels, const DeviceTree& tree) {
  const auto uniform = [](const Level& level) { return level.fan_out.uniform(); };
  if (std::all_of(levels.begin(), levels.end(), uniform)) return std::nullopt;
  std::vector<Tier> tiers;
  tiers.reserve(levels.size());
  for (std::int32_t l = 0; l < tree.levels(); ++l)
    tiers.push_back(look_at(levels[index(l)], LevelId(l), tree, l == 0 ? Tier{} : tiers.back()));
  SiblingOrder order;
  order.fan_outs.resize(levels.size());
  // Domains of the level in the new order.
  std::vector<std::int32_t> domains{0};
  for (std::int32_t l = tree.levels(); l-- > 0;) {
    FanOut& fan_out = order.fan_outs[index(l)];
    fan_out = levels[index(l)].fan_out;
    if (!fan_out.uniform()) {
      for (std::size_t i = 0; i < domains.size(); ++i)
        fan_out.sizes[i] = levels[index(l)].fan_out.of(domains[i]);
    }
    if (l == 0) break;
    std::vector<std::int32_t> inside;
    inside.reserve(index(tree.domains(LevelId(l - 1))));
    for (const std::int32_t d : domains) {
      const std::int32_t first = tree.first_child(LevelId(l), d);
      for (std::int32_t c = 0; c < tree.children(LevelId(l), d); ++c)
        inside.push_back(tiers[index(l)].children.empty() ? first + c
                                                          : tiers[index(l)].children[index(d)][index(c)]);
    }
    domains = std::move(inside);
  }
  if (std::is_sorted(domains.begin(), domains.end())) return std::nullopt;
  order.sorted.resize(domains.size());
  for (std::size_t i = 0; i < domains.size(); ++i)
    order.sorted[index(domains[i])] = static_cast<std::int32_t>(i);
  order.own = std::move(domains);
  return order;
}

}  // namespace nest::cluster
