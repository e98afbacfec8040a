#include "nest/simulate/traffic/links.hpp"

#include <algorithm>

namespace nest::simulate {

LinkTable::LinkTable(const Cluster& cluster, const FabricConstants& constants) : cluster_(&cluster) {
  for (const Fabric& fabric : constants.levels) efficiency_.push_back(fabric.efficiency);
}

double LinkTable::rate(LevelId level) const {
  return cluster_->level(level).rate().value * efficiency_[level.index()];
}

std::int32_t LinkTable::child_of(DeviceId device, LevelId level) const {
  return level.value == 0 ? device.value : cluster_->tree().domain_of(device, LevelId{level.value - 1});
}

BytesPerSecond LinkTable::capacity_of(const Link& link) const {
  const DeviceTree& tree = cluster_->tree();
  const Level& level = cluster_->level(link.level);
  const double one = rate(link.level);
  switch (link.kind) {
    case Kind::domain:
      return BytesPerSecond{one * tree.devices_in(link.level, link.child) / level.oversubscription};
    case Kind::pair: {
      const std::int32_t devices = std::min(tree.devices_in_child(link.level, link.child),
                                            tree.devices_in_child(link.level, link.other));
      const std::int32_t domain = tree.parent_of(link.level, link.child);
      return BytesPerSecond{one * devices / level.links(tree.children(link.level, domain))};
    }
    case Kind::up:
    case Kind::down:
      break;
  }
  if (link.level.value == 0) return BytesPerSecond{one};
  return BytesPerSecond{one * tree.devices_in_child(link.level, link.child) / level.oversubscription};
}

LinkId LinkTable::find(Kind kind, LevelId level, std::int32_t child, std::int32_t other) {
  // Ids have 24 bits at most (kMostDevices), levels fit in the rest.
  const std::uint64_t key = (static_cast<std::uint64_t>(kind) << 62) |
                            (static_cast<std::uint64_t>(level.value) << 50) |
                            (static_cast<std::uint64_t>(child) << 25) | static_cast<std::uint64_t>(other);
  const auto [at, fresh] = known_.emplace(key, static_cast<std::int32_t>(links_.size()));
  if (fresh) {
    links_.push_back({kind, level, child, other, {}});
    links_.back().capacity = capacity_of(links_.back());
  }
  return LinkId{at->second};
}

void LinkTable::add_inner(DeviceId device, LevelId meet, Kind kind, std::vector<LinkUse>& out) {
  for (std::int32_t l = 1; l < meet.value; ++l) {
    const LevelId level{l};
    if (cluster_->level(level).kind != LevelKind::switched) continue;
    const LinkId link = find(kind, level, child_of(device, level), 0);
    // A level that gives less than the one above it is not on the way there: both have ports of their own.
    if (capacity(link).value >= rate(meet)) out.push_back({link, 1});
  }
}

std::vector<LinkUse> LinkTable::path(DeviceId from, DeviceId to) {
  std::vector<LinkUse> out;
  const auto meet = cluster_->tree().meet(from, to);
  if (!meet) return out;
  const Level& level = cluster_->level(*meet);
  add_inner(from, *meet, Kind::up, out);
  add_inner(to, *meet, Kind::down, out);
  const std::int32_t a = child_of(from, *meet);
  const std::int32_t b = child_of(to, *meet);
  if (level.hops_through_children()) {
    const std::int32_t domain = cluster_->tree().parent_of(*meet, a);
    const std::int32_t first = cluster_->tree().first_child(*meet, domain);
    add_flows(*meet, domain,
              grid_message(level, cluster_->tree().children(*meet, domain), a - first, b - first), out);
    return out;
  }
  if (level.kind != LevelKind::switched) {
    out.push_back({find(Kind::pair, *meet, a, b), 1});
    return out;
  }
  out.push_back({find(Kind::up, *meet, a, 0), 1});
  out.push_back({find(Kind::down, *meet, b, 0), 1});
  if (meet->value == 0 && level.oversubscription > 1)
    out.push_back({find(Kind::domain, *meet, cluster_->tree().domain_of(from, *meet), 0), 1});
  return out;
}

std::vector<LinkUse> LinkTable::group_links(LevelId id, std::span<const std::int32_t> children,
                                            Pattern pattern) {
  const Level& level = cluster_->level(id);
  const std::int32_t domain = cluster_->tree().parent_of(id, children.front());
  std::vector<LinkUse> out;
  if (level.hops_through_children()) {
    const std::int32_t first = cluster_->tree().first_child(id, domain);
    std::vector<std::int32_t> at;
    at.reserve(children.size());
    for (const std::int32_t child : children) at.push_back(child - first);
    const auto flows = pattern == Pattern::exchange ? grid_exchange : grid_rings;
    add_flows(id, domain, flows(level, cluster_->tree().children(id, domain), at), out);
    return out;
  }
  for (std::size_t i = 0; i < children.size(); ++i) {
    if (level.kind != LevelKind::switched) {
      out.push_back({find(Kind::pair, id, children[i], children[(i + 1) % children.size()]), 1});
      continue;
    }
    out.push_back({find(Kind::up, id, children[i], 0), 1});
    out.push_back({find(Kind::down, id, children[i], 0), 1});
    if (id.value == 0 && level.oversubscription > 1) out.push_back({find(Kind::domain, id, domain, 0), 1});
  }
  return out;
}

void LinkTable::add_flows(LevelId level, std::int32_t domain, std::span<const GridFlow> flows,
                          std::vector<LinkUse>& out) {
  const std::int32_t first = cluster_->tree().first_child(level, domain);
  for (const GridFlow& flow : flows)
    out.push_back({find(Kind::pair, level, first + flow.from, first + flow.to), flow.share});
}

std::optional<std::int32_t> LinkTable::sender(LinkId link) const {
  const Link& l = links_[link.index()];
  if (l.kind != Kind::up && l.kind != Kind::pair) return std::nullopt;
  return l.child;
}

std::string LinkTable::child_name(LevelId level, std::int32_t child) const {
  const std::string what = level.value == 0 ? "device" : cluster_->level(LevelId{level.value - 1}).name;
  return what + " " + std::to_string(child);
}

std::string LinkTable::name(LinkId link) const {
  const Link& l = links_[link.index()];
  switch (l.kind) {
    case Kind::up:
      return child_name(l.level, l.child) + " uplink";
    case Kind::down:
      return child_name(l.level, l.child) + " downlink";
    case Kind::domain:
      return cluster_->level(l.level).name + " " + std::to_string(l.child) + " switch";
    case Kind::pair:
      break;
  }
  return child_name(l.level, l.child) + " to " + std::to_string(l.other);
}

}  // namespace nest::simulate
