#include "nest/network/groups/group.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/network/groups/group_grid.hpp"
#include "nest/network/groups/sibling_groups.hpp"

namespace nest::network {
namespace {

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

void make_canonical(std::vector<GroupShape>& shapes) {
  if (shapes.size() < 2) return;
  const auto before = [](const GroupShape& a, const GroupShape& b) {
    if (a.members() != b.members()) return a.members() < b.members();
    return std::lexicographical_compare(a.levels().begin(), a.levels().end(), b.levels().begin(),
                                        b.levels().end());
  };
  // Mostly few shapes come many times; those go before shapes are moved about.
  constexpr std::ptrdiff_t kFew = 16;
  auto kept = shapes.begin();
  auto at = shapes.begin();
  for (; at != shapes.end(); ++at) {
    if (std::find(shapes.begin(), kept, *at) != kept) continue;
    if (kept - shapes.begin() == kFew) break;
    if (kept != at) *kept = *at;
    ++kept;
  }
  shapes.erase(kept, at);
  std::sort(shapes.begin(), shapes.end(), before);
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
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
  const DeviceRanks ranks(cluster.tree(), group);
  GroupList list;
  list.add_strided(ranks, 0, 1, static_cast<std::int64_t>(group.size()));
  return sibling_shapes(cluster, ranks, list, 1).shapes.front();
}

std::vector<GroupShape> group_shapes(const Cluster& cluster, std::span<const std::vector<DeviceId>> groups) {
  std::vector<DeviceId> devices;
  for (const std::vector<DeviceId>& group : groups) devices.insert(devices.end(), group.begin(), group.end());
  const DeviceRanks ranks(cluster.tree(), devices);
  GroupList list;
  list.reserve(groups.size(), devices.size());
  std::int64_t first = 0;
  for (const std::vector<DeviceId>& group : groups) {
    const auto members = static_cast<std::int64_t>(group.size());
    list.add_strided(ranks, first, 1, members);
    first += members;
  }
  const SiblingShapes siblings = sibling_shapes(cluster, ranks, list, groups.size());
  std::vector<GroupShape> out;
  out.reserve(groups.size());
  for (const std::size_t shape : siblings.of_group) out.push_back(siblings.shapes[shape]);
  return out;
}

Shapes::Shapes(std::vector<GroupShape> shapes) {
  if (shapes.empty()) return;
  make_canonical(shapes);
  list_ = std::make_shared<const std::vector<GroupShape>>(std::move(shapes));
}

bool Shapes::operator==(const Shapes& other) const {
  return list_ == other.list_ || std::equal(begin(), end(), other.begin(), other.end());
}

}  // namespace nest::network
