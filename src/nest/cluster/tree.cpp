#include "nest/cluster/tree.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "nest/base/error.hpp"
#include "nest/base/units.hpp"

namespace nest::cluster {
namespace {

std::int64_t children_of_all(const FanOut& fan_out, std::int64_t domains) {
  if (fan_out.uniform()) return domains * fan_out.size;
  return std::accumulate(fan_out.sizes.begin(), fan_out.sizes.end(), std::int64_t{0});
}

// The last offset that is not above `at`.
std::int32_t slot(const std::vector<std::int32_t>& offsets, std::int32_t at) {
  const auto after = std::upper_bound(offsets.begin(), offsets.end(), at);
  return static_cast<std::int32_t>(after - offsets.begin()) - 1;
}

}  // namespace

std::int32_t most_children(const FanOut& fan_out) {
  return fan_out.uniform() ? fan_out.size : *std::max_element(fan_out.sizes.begin(), fan_out.sizes.end());
}

FanOut fan_out_of(std::vector<std::int32_t> sizes) {
  const bool alike = std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to<>()) == sizes.end();
  if (alike) return {sizes.front(), {}};
  return {1, std::move(sizes)};
}

std::optional<FanOutProblem> check_fan_outs(std::span<const FanOut> fan_outs) {
  if (fan_outs.empty()) return FanOutProblem{LevelId{0}, "a cluster needs at least one level", ""};
  std::int64_t domains = 1;
  for (std::size_t l = fan_outs.size(); l-- > 0;) {
    const FanOut& fan_out = fan_outs[l];
    const LevelId level{static_cast<std::int32_t>(l)};
    const bool positive =
        std::all_of(fan_out.sizes.begin(), fan_out.sizes.end(), [](auto n) { return n > 0; });
    if (fan_out.size < 1 || !positive)
      return FanOutProblem{level, "every domain needs at least one child", ""};
    const auto described = static_cast<std::int64_t>(fan_out.sizes.size());
    if (!fan_out.uniform() && described != domains) {
      const std::string have = "'sizes' describes " + count_of(described, "domain");
      return l + 1 == fan_outs.size()
                 ? FanOutProblem{level, have + ", but the outermost level has 1", ""}
                 : FanOutProblem{level, have + ", but the levels outside it make " + format_digits(domains),
                                 "give one number for each domain"};
    }
    domains = children_of_all(fan_out, domains);
    if (domains > kMostDevices) {
      return FanOutProblem{level, "the levels make more than " + format_digits(kMostDevices) + " devices",
                           ""};
    }
  }
  return std::nullopt;
}

DeviceTree::DeviceTree(std::vector<FanOut> fan_outs) {
  if (const auto problem = check_fan_outs(fan_outs)) {
    throw InputError("", "levels[" + std::to_string(problem->level.value) + "]", problem->what,
                     problem->hint);
  }
  tiers_.resize(fan_outs.size());
  std::int32_t domains = 1;
  for (std::size_t l = fan_outs.size(); l-- > 0;) {
    tiers_[l].fan_out = std::move(fan_outs[l]);
    tiers_[l].domains = domains;
    domains = static_cast<std::int32_t>(children_of_all(tiers_[l].fan_out, domains));
  }
  devices_ = domains;
  for (std::size_t l = 0; l < tiers_.size(); ++l) {
    Tier& t = tiers_[l];
    if (!t.fan_out.uniform()) {
      t.first_child.assign(1, 0);
      for (const std::int32_t n : t.fan_out.sizes) t.first_child.push_back(t.first_child.back() + n);
    }
    const std::int32_t below = l == 0 ? 1 : tiers_[l - 1].devices_each;
    if (t.fan_out.uniform() && below > 0) {
      t.devices_each = below * t.fan_out.size;
      continue;
    }
    t.first_device.reserve(static_cast<std::size_t>(t.domains) + 1);
    const LevelId level{static_cast<std::int32_t>(l)};
    for (std::int32_t d = 0; d < t.domains; ++d) {
      const std::int32_t child = first_child(level, d);
      t.first_device.push_back(l == 0 ? child : first_device(LevelId{level.value - 1}, child).value);
    }
    t.first_device.push_back(devices_);
  }
}

std::int32_t DeviceTree::domain_of(DeviceId device, LevelId level) const {
  const Tier& t = tier(level);
  return t.devices_each > 0 ? device.value / t.devices_each : slot(t.first_device, device.value);
}

DeviceId DeviceTree::first_device(LevelId level, std::int32_t domain) const {
  const Tier& t = tier(level);
  return DeviceId{t.devices_each > 0 ? domain * t.devices_each
                                     : t.first_device[static_cast<std::size_t>(domain)]};
}

std::int32_t DeviceTree::devices_in(LevelId level, std::int32_t domain) const {
  const Tier& t = tier(level);
  if (t.devices_each > 0) return t.devices_each;
  return t.first_device[static_cast<std::size_t>(domain) + 1] -
         t.first_device[static_cast<std::size_t>(domain)];
}

std::int32_t DeviceTree::children(LevelId level, std::int32_t domain) const {
  return tier(level).fan_out.of(domain);
}

std::int32_t DeviceTree::first_child(LevelId level, std::int32_t domain) const {
  const Tier& t = tier(level);
  return t.fan_out.uniform() ? domain * t.fan_out.size : t.first_child[static_cast<std::size_t>(domain)];
}

std::int32_t DeviceTree::devices_in_child(LevelId level, std::int32_t child) const {
  return level.value == 0 ? 1 : devices_in(LevelId{level.value - 1}, child);
}

std::int32_t DeviceTree::parent_of(LevelId level, std::int32_t child) const {
  const Tier& t = tier(level);
  return t.fan_out.uniform() ? child / t.fan_out.size : slot(t.first_child, child);
}

std::vector<std::int32_t> DeviceTree::coordinates(DeviceId device) const {
  std::vector<std::int32_t> out;
  out.reserve(tiers_.size());
  std::int32_t child = device.value;
  for (std::int32_t l = 0; l < levels(); ++l) {
    const std::int32_t domain = parent_of(LevelId{l}, child);
    out.push_back(child - first_child(LevelId{l}, domain));
    child = domain;
  }
  return out;
}

std::optional<DeviceId> DeviceTree::device_at(std::span<const std::int32_t> coordinates) const {
  if (coordinates.size() != tiers_.size()) return std::nullopt;
  std::int32_t domain = 0;
  for (std::int32_t l = levels(); l-- > 0;) {
    const std::int32_t index = coordinates[static_cast<std::size_t>(l)];
    if (index < 0 || index >= children(LevelId{l}, domain)) return std::nullopt;
    domain = first_child(LevelId{l}, domain) + index;
  }
  return DeviceId{domain};
}

std::optional<LevelId> DeviceTree::meet(DeviceId a, DeviceId b) const {
  if (a == b) return std::nullopt;
  for (std::int32_t l = 0; l + 1 < levels(); ++l) {
    if (domain_of(a, LevelId{l}) == domain_of(b, LevelId{l})) return LevelId{l};
  }
  return LevelId{levels() - 1};
}

std::vector<LevelMembers> DeviceTree::members(std::span<const DeviceId> group) const {
  std::vector<std::int32_t>
      touched;  // ascending, without repeats: devices first, then domains level by level
  touched.reserve(group.size());
  for (const DeviceId device : group) touched.push_back(device.value);
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  std::vector<LevelMembers> out;
  for (std::int32_t l = 0; l < levels(); ++l) {
    std::map<std::int32_t, std::int32_t> domains_with;
    std::vector<std::int32_t> outer;
    std::int32_t run = 0;
    for (const std::int32_t child : touched) {
      const std::int32_t domain = parent_of(LevelId{l}, child);
      if (!outer.empty() && outer.back() == domain) {
        ++run;
        continue;
      }
      if (run > 0) ++domains_with[run];
      outer.push_back(domain);
      run = 1;
    }
    if (run > 0) ++domains_with[run];
    LevelMembers counts;
    for (const auto& [n, domains] : domains_with) counts.push_back({n, domains});
    out.push_back(std::move(counts));
    touched = std::move(outer);
  }
  return out;
}

}  // namespace nest::cluster
