#include "nest/network/groups/group_pattern.hpp"

#include <algorithm>
#include <optional>

#include "nest/base/error.hpp"

namespace nest::network {
namespace {

// How many steps stay within the domains of so many devices; none where the strides cut across them.
std::optional<std::int32_t> steps_within(std::span<const Stride> strides, std::int32_t devices) {
  std::int32_t within = 1;
  for (const Stride& s : strides) {
    if (s.stride >= devices) {
      if (s.stride % devices != 0) return std::nullopt;
      continue;
    }
    if (s.stride * static_cast<std::int64_t>(s.count) <= devices) {
      within *= s.count;
      continue;
    }
    if (devices % s.stride != 0 || s.count % (devices / s.stride) != 0) return std::nullopt;
    within *= devices / s.stride;
  }
  return within;
}

// The last id within the domain of the first, less the first.
std::int32_t reach_within(std::span<const Stride> strides, std::int32_t devices) {
  std::int32_t reach = 0;
  for (const Stride& s : strides) {
    if (s.stride < devices) reach += (std::min(s.count, devices / s.stride) - 1) * s.stride;
  }
  return reach;
}

struct Within {
  std::int32_t members = 1;
  std::int32_t siblings = 1;
};

// Of the domain of so many devices that holds the start; none where some id would fall out of step.
std::optional<Within> within(const GroupPattern& p, std::int32_t devices) {
  const auto members = steps_within(p.members.all(), devices);
  const auto siblings = steps_within(p.siblings.all(), devices);
  if (!members || !siblings) return std::nullopt;
  const std::int32_t offset = p.start.value % devices;
  if (offset + reach_within(p.members.all(), devices) + reach_within(p.siblings.all(), devices) >= devices) {
    return std::nullopt;
  }
  return Within{*members, *siblings};
}

// Children of the start's domain that hold members, ascending: for levels where it matters which.
std::vector<std::int32_t> children_with_members(const GroupPattern& p, std::int32_t child_devices,
                                                std::int32_t domain_devices) {
  std::vector<std::int32_t> at{p.start.value % domain_devices};
  for (const Stride& s : p.members.all()) {
    if (s.stride >= domain_devices) continue;
    const std::int32_t steps = std::min(s.count, domain_devices / s.stride);
    const std::size_t before = at.size();
    for (std::int32_t i = 1; i < steps; ++i) {
      for (std::size_t k = 0; k < before; ++k) at.push_back(at[k] + i * s.stride);
    }
  }
  for (std::int32_t& id : at) id /= child_devices;
  std::sort(at.begin(), at.end());
  at.erase(std::unique(at.begin(), at.end()), at.end());
  return at;
}

std::optional<GroupShape> regular_shape(const Cluster& cluster, const GroupPattern& p) {
  const DeviceTree& tree = cluster.tree();
  GroupShape out(p.members.count());
  Within inner;
  std::int32_t child_devices = 1;
  for (std::int32_t l = 0; l < tree.levels(); ++l) {
    const LevelId id{l};
    if (!tree.regular(id)) return std::nullopt;
    const std::int32_t devices = tree.devices_in(id, 0);
    const auto here = within(p, devices);
    if (!here || here->members % inner.members != 0) return std::nullopt;
    const std::int32_t members = here->members / inner.members;
    if (members > 1) {
      const Level& level = cluster.level(id);
      std::vector<std::int32_t> at;
      if (level.hops_through_children()) at = children_with_members(p, child_devices, devices);
      const ChildLoad load{inner.members,
                           child_devices,
                           inner.members * inner.siblings,
                           inner.siblings,
                           here->members * here->siblings,
                           members * here->siblings};
      const LevelSituation s{.level = id,
                             .members = members,
                             .children = tree.children(id, 0),
                             .domain_devices = devices,
                             .domain_members = here->members,
                             .group_members = out.members(),
                             .edges = (members - 1) * (out.members() / here->members),
                             .siblings = p.siblings.count() > 1,
                             .at = at,
                             .loads = {&load, 1}};
      out.add(level_shape(level, s));
    }
    inner = *here;
    child_devices = devices;
  }
  return inner.members == out.members() ? std::optional(out) : std::nullopt;
}

std::vector<std::int32_t> offsets(const Strides& strides) {
  std::vector<std::int32_t> out{0};
  for (const Stride& s : strides.all()) {
    const std::size_t before = out.size();
    for (std::int32_t i = 1; i < s.count; ++i) {
      for (std::size_t k = 0; k < before; ++k) out.push_back(out[k] + i * s.stride);
    }
  }
  return out;
}

}  // namespace

Strides::Strides(std::initializer_list<Stride> strides) {
  for (const Stride& s : strides) {
    if (s.count <= 1) continue;
    if (size_ == strides_.size() || s.stride < 1) {
      throw InputError("", "", "a pattern of devices has at most four strides, each of one device or more");
    }
    strides_[size_++] = s;
  }
}

std::int32_t Strides::count() const {
  std::int32_t out = 1;
  for (const Stride& s : all()) out *= s.count;
  return out;
}

std::vector<DeviceId> pattern_group(const GroupPattern& pattern) {
  std::vector<DeviceId> out;
  for (const std::int32_t at : offsets(pattern.members)) out.emplace_back(pattern.start.value + at);
  return out;
}

std::vector<std::vector<DeviceId>> pattern_siblings(const GroupPattern& pattern) {
  std::vector<std::vector<DeviceId>> out;
  for (const std::int32_t moved : offsets(pattern.siblings)) {
    GroupPattern sibling = pattern;
    sibling.start.value += moved;
    out.push_back(pattern_group(sibling));
  }
  return out;
}

GroupShape pattern_shape(const Cluster& cluster, const GroupPattern& pattern) {
  if (pattern.members.count() == 1) return GroupShape{};
  if (const auto shape = regular_shape(cluster, pattern)) return *shape;
  return group_shapes(cluster, pattern_siblings(pattern)).front();
}

}  // namespace nest::network
