#include "nest/network/domains/group_facts.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace nest::network {
namespace {

constexpr std::size_t kNumbers = 6;  // of a part

std::size_t index(std::int32_t i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

GroupFacts::GroupFacts(const Cluster& cluster) : cluster_(&cluster), levels_(cluster.tree().levels()) {
  for (const Level& level : cluster.levels()) hops_.push_back(level.hops_through_children());
  static_cast<void>(sets_.name({}));
}

std::int32_t GroupFacts::with(std::int32_t set, const ChildLoad& load) {
  const std::array<std::int32_t, kNumbers> numbers{load.inside, load.devices,      load.flows,
                                                   load.groups, load.domain_flows, load.domain_groups};
  const std::int32_t name = loads_.name(numbers);
  const std::span<const std::int32_t> old = sets_.list(set);
  const auto at = std::lower_bound(old.begin(), old.end(), name);
  if (at != old.end() && *at == name) return set;
  scratch_.assign(old.begin(), at);
  scratch_.push_back(name);
  scratch_.insert(scratch_.end(), at, old.end());
  return sets_.name(scratch_);
}

std::int32_t GroupFacts::united(std::int32_t a, std::int32_t b) {
  if (a == b || b == 0) return a;
  if (a == 0) return b;
  const std::span<const std::int32_t> x = sets_.list(a);
  const std::span<const std::int32_t> y = sets_.list(b);
  scratch_.clear();
  std::set_union(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(scratch_));
  return sets_.name(scratch_);
}

std::int32_t GroupFacts::place(std::int32_t children, std::int32_t devices,
                               std::span<const std::int32_t> at) {
  scratch_.assign({children, devices});
  scratch_.insert(scratch_.end(), at.begin(), at.end());
  return places_.name(scratch_);
}

std::int32_t GroupFacts::name(std::span<const Part> parts) {
  scratch_.clear();
  std::size_t size = parts.size();
  while (size > 0 && parts[size - 1].members == 0 && parts[size - 1].held == 0) --size;
  for (const Part& p : parts.first(size))
    scratch_.insert(scratch_.end(), {p.members, p.held, p.edges, p.loads, p.own, p.place});
  return facts_.name(scratch_);
}

GroupFacts::Part GroupFacts::part(std::int32_t facts, std::int32_t level) const {
  const std::span<const std::int32_t> all = facts_.list(facts);
  const std::size_t at = index(level) * kNumbers;
  if (at >= all.size()) return {};
  return {all[at], all[at + 1], all[at + 2], all[at + 3], all[at + 4], all[at + 5]};
}

void GroupFacts::merge(std::int32_t facts, std::int32_t times, std::vector<Part>& into) {
  const auto known = static_cast<std::int32_t>(facts_.list(facts).size() / kNumbers);
  for (std::int32_t l = 0; l < known; ++l) {
    const Part from = part(facts, l);
    Part& to = into[index(l)];
    if (from.members > to.members) {
      to.members = from.members;
      to.place = from.place;
    }
    to.held = std::max(to.held, from.held);
    to.edges += times * from.edges;
    to.loads = united(to.loads, from.loads);
    to.own = united(to.own, from.own);
  }
}

GroupShape GroupFacts::shape(std::int32_t facts, std::int32_t members, bool own, bool siblings) const {
  GroupShape out(members);
  std::vector<ChildLoad> loads;
  for (std::int32_t l = 0; l < levels_; ++l) {
    const Part p = part(facts, l);
    if (p.members < 2) continue;
    loads.clear();
    for (const std::int32_t name : sets_.list(own ? p.own : p.loads)) {
      const std::span<const std::int32_t> n = loads_.list(name);
      loads.push_back({n[0], n[1], n[2], n[3], n[4], n[5]});
    }
    const std::span<const std::int32_t> place = places_.list(p.place);
    const LevelSituation s{.level = LevelId(l),
                           .members = p.members,
                           .children = place[0],
                           .domain_devices = place[1],
                           .domain_members = p.held,
                           .group_members = members,
                           .edges = p.edges,
                           .siblings = siblings,
                           .at = place.subspan(2),
                           .loads = loads};
    out.add(level_shape(cluster_->level(LevelId(l)), s));
  }
  return out;
}

}  // namespace nest::network
