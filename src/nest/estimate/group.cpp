#include "nest/estimate/group.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "nest/base/error.hpp"
#include "nest/estimate/group_grid.hpp"

namespace nest {
namespace {

// A child with members of one group, and the domain that it lies in.
struct Touched {
  std::int32_t child = 0;
  std::int32_t domain = 0;
  std::int32_t inside = 1;
  bool leaves = false;  // whether the domain has another one
};

// Level by level.
using Footprint = std::vector<std::vector<Touched>>;

Footprint footprint(const DeviceTree& tree, std::span<const DeviceId> group) {
  std::vector<Touched> here;
  here.reserve(group.size());
  for (const DeviceId device : group) here.push_back({.child = device.value});
  std::sort(here.begin(), here.end(), [](const Touched& a, const Touched& b) { return a.child < b.child; });
  here.erase(std::unique(here.begin(), here.end(),
                         [](const Touched& a, const Touched& b) { return a.child == b.child; }),
             here.end());
  Footprint out;
  for (std::int32_t l = 0; l < tree.levels(); ++l) {
    std::vector<Touched> outer;
    for (std::size_t i = 0; i < here.size(); ++i) {
      here[i].domain = tree.parent_of(LevelId{l}, here[i].child);
      const bool same = i > 0 && here[i - 1].domain == here[i].domain;
      if (same) {
        here[i - 1].leaves = here[i].leaves = true;
        outer.back().inside += here[i].inside;
      } else {
        outer.push_back({.child = here[i].domain, .inside = here[i].inside});
      }
    }
    out.push_back(std::move(here));
    here = std::move(outer);
  }
  return out;
}

struct Traffic {
  std::int32_t flows = 0;
  std::int32_t groups = 0;
};

// What leaves each child, and each domain, of one level; only those that any group touches.
struct LevelTraffic {
  std::unordered_map<std::int32_t, Traffic> children;
  std::unordered_map<std::int32_t, Traffic> domains;
};

class Family {
 public:
  Family(const Cluster& cluster, std::vector<Footprint> prints)
      : cluster_(cluster), prints_(std::move(prints)) {
    traffic_.resize(cluster_.levels().size());
    for (const Footprint& print : prints_) count(print);
  }

  [[nodiscard]] GroupShape shape(std::size_t group) const {
    const Footprint& print = prints_[group];
    GroupShape out(static_cast<std::int32_t>(print.front().size()));
    for (std::size_t l = 0; l < print.size(); ++l) {
      const bool spans =
          std::any_of(print[l].begin(), print[l].end(), [](const Touched& t) { return t.leaves; });
      if (spans) out.add(at_level(l, print[l], out.members()));
    }
    return out;
  }

 private:
  void count(const Footprint& print) {
    for (std::size_t l = 0; l < print.size(); ++l) {
      for (const Touched& t : print[l]) {
        if (!t.leaves) continue;
        for (Traffic* where : {&traffic_[l].children[t.child], &traffic_[l].domains[t.domain]}) {
          where->flows += t.inside;
          ++where->groups;
        }
      }
    }
  }

  [[nodiscard]] GroupLevel at_level(std::size_t l, const std::vector<Touched>& touched,
                                    std::int32_t members) const {
    const DeviceTree& tree = cluster_.tree();
    const LevelId id{static_cast<std::int32_t>(l)};
    std::vector<ChildLoad> loads;
    std::vector<std::int32_t> fullest;
    std::vector<std::int32_t> current;
    LevelSituation s{.level = id, .group_members = members, .siblings = prints_.size() > 1};
    std::int32_t held = 0;
    for (std::size_t i = 0; i < touched.size(); ++i) {
      const Touched& t = touched[i];
      if (i > 0 && touched[i - 1].domain == t.domain) {
        ++s.edges;
      } else {
        current.clear();
        held = 0;
      }
      current.push_back(t.child - tree.first_child(id, t.domain));
      held += t.inside;
      if (current.size() > fullest.size()) {
        fullest = current;
        s.children = tree.children(id, t.domain);
        s.domain_devices = tree.devices_in(id, t.domain);
      }
      s.domain_members = std::max(s.domain_members, held);
      if (!t.leaves) continue;
      const Traffic& child = traffic_[l].children.at(t.child);
      const Traffic& domain = traffic_[l].domains.at(t.domain);
      loads.push_back({t.inside, tree.devices_in_child(id, t.child), child.flows, child.groups, domain.flows,
                       domain.groups});
    }
    s.at = fullest;
    s.members = static_cast<std::int32_t>(fullest.size());
    s.loads = loads;
    return level_shape(cluster_.level(id), s);
  }

  const Cluster& cluster_;
  std::vector<Footprint> prints_;
  std::vector<LevelTraffic> traffic_;
};

std::int32_t ceil_log2(std::int32_t n) {
  return static_cast<std::int32_t>(std::bit_width(static_cast<std::uint32_t>(n - 1)));
}

}  // namespace

void GroupShape::add(const GroupLevel& level) {
  if (spanned_ == levels_.size()) {
    throw InputError("", "levels",
                     "a group spans more than " + std::to_string(kMostSpannedLevels) + " levels",
                     "leave out levels whose domains have one child");
  }
  levels_[spanned_++] = level;
}

bool GroupShape::operator==(const GroupShape& other) const {
  return members_ == other.members_ &&
         std::equal(levels().begin(), levels().end(), other.levels().begin(), other.levels().end());
}

GroupLevel level_shape(const Level& level, const LevelSituation& s) {
  GroupLevel out{.level = s.level, .members = s.members};
  out.load = out.lone = 0;
  for (const ChildLoad& c : s.loads) {
    // A device never gets more than the level's bandwidth, nor more than its part of what the child's uplink
    // carries. At level 0 a child is a device, and oversubscription is the whole domain's.
    const double room = s.level.value == 0 ? s.domain_devices : c.devices;
    const auto rate = [&](std::int32_t flows, std::int32_t domain_flows) {
      const double uplink = room / (level.oversubscription * (s.level.value == 0 ? domain_flows : flows));
      const double own = s.level.value == 0 ? 1.0 / flows : static_cast<double>(c.devices) / flows;
      return std::min({1.0, uplink, own});
    };
    const double shared = rate(c.flows, c.domain_flows);
    out.inside = std::max(out.inside, c.inside);
    out.load = std::max(out.load, 1 / (c.inside * shared));
    out.lone = std::max(out.lone, 1 / rate(c.groups, c.domain_groups));
    out.exchange = std::max(out.exchange, (1 - static_cast<double>(c.inside) / s.group_members) / shared);
  }
  out.link = 1.0 / level.links(s.children);
  out.ring_steps = out.members - 1;
  out.log_steps = ceil_log2(out.members);
  out.edges = s.edges;
  if (level.kind == LevelKind::fully_connected) {
    out.fraction = (out.members - 1) * out.link;
    out.log_steps = 1;
    out.exchange = std::max(out.exchange, out.load * out.inside * out.inside / (s.group_members * out.link));
  } else if (level.hops_through_children()) {
    const GridShare grid = grid_share(level, s.children, s.at, s.siblings);
    out.fraction = grid.fraction;
    out.edges *= std::max(1, grid.steps / out.ring_steps);
    out.ring_steps = out.log_steps = grid.steps;
    const double in_domain = static_cast<double>(s.domain_members) / s.group_members;
    out.exchange = std::max(out.exchange, grid.exchange * in_domain * out.load * out.inside);
  }
  return out;
}

GroupShape group_shape(const Cluster& cluster, std::span<const DeviceId> group) {
  if (group.size() < 2) return GroupShape{};
  return Family(cluster, {footprint(cluster.tree(), group)}).shape(0);
}

std::vector<GroupShape> group_shapes(const Cluster& cluster, std::span<const std::vector<DeviceId>> groups) {
  std::vector<Footprint> prints;
  prints.reserve(groups.size());
  for (const std::vector<DeviceId>& group : groups) prints.push_back(footprint(cluster.tree(), group));
  const Family family(cluster, std::move(prints));
  std::vector<GroupShape> out;
  out.reserve(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g)
    out.push_back(groups[g].empty() ? GroupShape{} : family.shape(g));
  return out;
}

}  // namespace nest
