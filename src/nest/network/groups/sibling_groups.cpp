#include "nest/network/groups/sibling_groups.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>

#include "nest/base/error.hpp"
#include "nest/base/hash.hpp"

namespace nest::network {
namespace {

std::size_t index(std::int32_t i) {
  return static_cast<std::size_t>(i);
}

// A child with members of one group, by rank, and the domain that it lies in.
struct Touched {
  std::int32_t child = 0;
  std::int32_t domain = 0;
  std::int32_t inside = 1;
  bool leaves = false;  // whether the domain has another one
};

struct Traffic {
  std::int32_t flows = 0;
  std::int32_t groups = 0;
};

// What leaves each child, and each domain, of one level, by rank.
struct LevelTraffic {
  std::vector<Traffic> children;
  std::vector<Traffic> domains;
};

// Everything that a group's shape follows from at one level.
struct LevelFacts {
  LevelSituation situation;  // its spans are empty
  std::vector<std::int32_t> at;
  std::vector<ChildLoad> loads;  // each kind once: only the largest of what they lead to counts

  bool operator==(const LevelFacts& o) const {
    const LevelSituation& a = situation;
    const LevelSituation& b = o.situation;
    return a.level == b.level && a.members == b.members && a.children == b.children &&
           a.domain_devices == b.domain_devices && a.domain_members == b.domain_members &&
           a.edges == b.edges && at == o.at && loads == o.loads;
  }
};

// The same of all levels; kept between groups so that its lists keep their room.
struct GroupFacts {
  std::int32_t members = 1;
  std::size_t spanned = 0;
  std::vector<LevelFacts> levels;  // the first `spanned` count

  LevelFacts& add() {
    if (spanned == levels.size()) levels.emplace_back();
    LevelFacts& facts = levels[spanned++];
    facts.at.clear();
    facts.loads.clear();
    return facts;
  }
  bool operator==(const GroupFacts& o) const {
    return members == o.members && spanned == o.spanned &&
           std::equal(levels.begin(), levels.begin() + static_cast<std::ptrdiff_t>(spanned),
                      o.levels.begin());
  }
};

// Of the facts that differ most: where on a grid the members are.
std::size_t hash_of(const GroupFacts& facts) {
  auto hash = index(facts.members);
  for (const LevelFacts& level : std::span(facts.levels).first(facts.spanned)) {
    mix_hash(hash, index(level.situation.level.value));
    mix_hash(hash, index(level.situation.members));
    mix_hash(hash, level.loads.size());
    for (const std::int32_t at : level.at) mix_hash(hash, index(at));
  }
  return hash;
}

class Siblings {
 public:
  Siblings(const Cluster& cluster, const DeviceRanks& ranks, const GroupList& groups)
      : cluster_(cluster), ranks_(ranks), groups_(groups), traffic_(ranks.levels()) {
    for (std::size_t l = 0; l < traffic_.size(); ++l) {
      traffic_[l].children.resize(ranks.tier(l).ids.size());
      traffic_[l].domains.resize(ranks.tier(l + 1).ids.size());
    }
    touched_.reserve(2 * ranks.positions());
    turns_end_.reserve(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
      walk(groups.group(g));
      turns_end_.push_back(turns_.size());
    }
  }

  [[nodiscard]] SiblingShapes shapes(std::size_t wanted) {
    SiblingShapes out;
    out.of_group.reserve(wanted);
    std::vector<GroupFacts> known;
    std::unordered_map<std::size_t, std::vector<std::size_t>> by_hash;  // into known
    GroupFacts facts;
    std::size_t latest = 0;  // neighbours are alike more often than not
    for (std::size_t g = 0; g < wanted; ++g) {
      facts.members = std::max(1, static_cast<std::int32_t>(groups_.group(g).size()));
      facts.spanned = 0;
      for (std::size_t i = g == 0 ? 0 : turns_end_[g - 1]; i < turns_end_[g]; ++i)
        at_level(turns_[i], facts.add());
      if (latest >= known.size() || known[latest] != facts) {
        std::vector<std::size_t>& alike = by_hash[hash_of(facts)];
        const auto same =
            std::find_if(alike.begin(), alike.end(), [&](std::size_t k) { return known[k] == facts; });
        latest = same == alike.end() ? known.size() : *same;
        if (same == alike.end()) {
          alike.push_back(latest);
          known.push_back(facts);
          out.shapes.push_back(shape(facts));
        }
      }
      out.of_group.push_back(latest);
    }
    return out;
  }

 private:
  // A level at which a group has members in several children of a domain: its part of touched_.
  struct Turn {
    std::size_t level = 0;
    std::size_t from = 0;
    std::size_t to = 0;
  };

  // Level by level, while the group has members in more than one child.
  void walk(std::span<const std::int32_t> members) {
    std::size_t from = touched_.size();
    for (const std::int32_t rank : members) touched_.push_back({.child = rank});
    for (std::size_t l = 0; l < ranks_.levels(); ++l) {
      const std::size_t to = touched_.size();
      if (to - from < 2) break;
      const std::vector<std::int32_t>& parents = ranks_.tier(l).parents;
      bool spans = false;
      for (std::size_t i = from; i < to; ++i) {
        const Touched t = touched_[i];
        const std::int32_t domain = parents[index(t.child)];
        touched_[i].domain = domain;
        if (i > from && touched_[i - 1].domain == domain) {
          touched_[i - 1].leaves = touched_[i].leaves = spans = true;
          touched_.back().inside += t.inside;
        } else {
          touched_.push_back({.child = domain, .inside = t.inside});
        }
      }
      if (spans) {
        turns_.push_back({l, from, to});
        count(turns_.back());
      }
      from = to;
    }
    touched_.resize(from);  // the outermost domains turn nowhere
  }

  void count(const Turn& turn) {
    LevelTraffic& traffic = traffic_[turn.level];
    for (std::size_t i = turn.from; i < turn.to; ++i) {
      const Touched& t = touched_[i];
      if (!t.leaves) continue;
      for (Traffic* where : {&traffic.children[index(t.child)], &traffic.domains[index(t.domain)]}) {
        where->flows += t.inside;
        ++where->groups;
      }
    }
  }

  void at_level(const Turn& turn, LevelFacts& facts) const {
    const std::size_t l = turn.level;
    const std::span<const Touched> touched(touched_.data() + turn.from, turn.to - turn.from);
    const DeviceRanks::Tier& tier = ranks_.tier(l);
    LevelSituation s{.level = LevelId{static_cast<std::int32_t>(l)}, .members = 0};
    std::size_t fullest = 0;  // where its children begin
    std::size_t begin = 0;
    std::int32_t held = 0;
    for (std::size_t i = 0; i < touched.size(); ++i) {
      const Touched& t = touched[i];
      if (i > 0 && touched[i - 1].domain == t.domain) {
        ++s.edges;
      } else {
        begin = i;
        held = 0;
      }
      held += t.inside;
      if (static_cast<std::int32_t>(i - begin) >= s.members) {
        s.members = static_cast<std::int32_t>(i - begin) + 1;
        fullest = begin;
      }
      s.domain_members = std::max(s.domain_members, held);
      if (!t.leaves) continue;
      const Traffic& child = traffic_[l].children[index(t.child)];
      const Traffic& domain = traffic_[l].domains[index(t.domain)];
      const ChildLoad load{
          t.inside, tier.devices[index(t.child)], child.flows, child.groups, domain.flows, domain.groups};
      if (std::find(facts.loads.rbegin(), facts.loads.rend(), load) == facts.loads.rend())
        facts.loads.push_back(load);
    }
    const std::int32_t domain = ranks_.tier(l + 1).ids[index(touched[fullest].domain)];
    s.children = cluster_.tree().children(s.level, domain);
    s.domain_devices = cluster_.tree().devices_in(s.level, domain);
    if (cluster_.level(s.level).hops_through_children()) {
      const std::int32_t first = cluster_.tree().first_child(s.level, domain);
      for (const Touched& t : touched.subspan(fullest, index(s.members)))
        facts.at.push_back(tier.ids[index(t.child)] - first);
    }
    facts.situation = s;
  }

  [[nodiscard]] GroupShape shape(const GroupFacts& facts) const {
    GroupShape out(facts.members);
    for (const LevelFacts& level : std::span(facts.levels).first(facts.spanned)) {
      LevelSituation s = level.situation;
      s.group_members = facts.members;
      s.siblings = groups_.size() > 1;
      s.at = level.at;
      s.loads = level.loads;
      out.add(level_shape(cluster_.level(s.level), s));
    }
    return out;
  }

  const Cluster& cluster_;
  const DeviceRanks& ranks_;
  const GroupList& groups_;
  std::vector<LevelTraffic> traffic_;
  std::vector<Touched> touched_;  // of all groups and levels
  std::vector<Turn> turns_;
  std::vector<std::size_t> turns_end_;  // one for each group
};

}  // namespace

DeviceRanks::DeviceRanks(const DeviceTree& tree, std::span<const DeviceId> devices)
    : tiers_(static_cast<std::size_t>(tree.levels()) + 1) {
  // The id above, the position below: sorts by id and says where it went.
  std::vector<std::uint64_t> order(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].value < 0 || devices[i].value >= tree.devices()) {
      throw InputError("", "", "there is no device " + std::to_string(devices[i].value),
                       "devices are numbered from 0 to " + std::to_string(tree.devices() - 1));
    }
    order[i] = static_cast<std::uint64_t>(devices[i].value) << 32U | i;
  }
  if (!std::is_sorted(order.begin(), order.end())) std::sort(order.begin(), order.end());
  ranks_.resize(devices.size());
  std::vector<std::int32_t>& ids = tiers_.front().ids;
  ids.reserve(devices.size());
  for (const std::uint64_t both : order) {
    const auto id = static_cast<std::int32_t>(both >> 32U);
    if (ids.empty() || ids.back() != id) ids.push_back(id);
    ranks_[both & 0xffffffffU] = static_cast<std::int32_t>(ids.size()) - 1;
  }
  for (std::int32_t l = 0; l < tree.levels(); ++l) {
    Tier& tier = tiers_[index(l)];
    Tier& above = tiers_[index(l) + 1];
    tier.parents.reserve(tier.ids.size());
    tier.devices.reserve(tier.ids.size());
    // Children come in order: those of one domain lie side by side.
    std::int32_t end = 0;
    for (const std::int32_t child : tier.ids) {
      if (above.ids.empty() || child >= end) {
        const std::int32_t domain = tree.parent_of(LevelId{l}, child);
        above.ids.push_back(domain);
        end = tree.first_child(LevelId{l}, domain) + tree.children(LevelId{l}, domain);
      }
      tier.parents.push_back(static_cast<std::int32_t>(above.ids.size()) - 1);
      tier.devices.push_back(tree.devices_in_child(LevelId{l}, child));
    }
  }
}

void GroupList::reserve(std::size_t groups, std::size_t members) {
  ends_.reserve(groups);
  members_.reserve(members);
}

void GroupList::add_strided(const DeviceRanks& ranks, std::int64_t first, std::int64_t step,
                            std::int64_t count) {
  for (std::int64_t m = 0; m < count; ++m)
    members_.push_back(ranks.rank(static_cast<std::size_t>(first + m * step)));
  const auto from = members_.begin() + static_cast<std::ptrdiff_t>(ends_.empty() ? 0 : ends_.back());
  if (std::adjacent_find(from, members_.end(), std::greater_equal<>()) != members_.end()) {
    std::sort(from, members_.end());
    members_.erase(std::unique(from, members_.end()), members_.end());
  }
  ends_.push_back(members_.size());
}

SiblingShapes sibling_shapes(const Cluster& cluster, const DeviceRanks& ranks, const GroupList& groups,
                             std::size_t wanted) {
  return Siblings(cluster, ranks, groups).shapes(wanted);
}

}  // namespace nest::network
