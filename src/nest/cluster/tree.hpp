// Device ids, coordinates and domains of a tree of levels, level 0 innermost; device ids count along the
// leaves. Levels below which nothing is uneven need no memory at all; others keep one offset for each domain.
//
//   DeviceTree tree({{.size = 8}, {.size = 4}, {.size = 32}});       // 1,024 devices
//   tree.coordinates(DeviceId{43})           -> {3, 1, 1}            // 3 + 8 * (1 + 4 * 1)
//   tree.meet(DeviceId{3}, DeviceId{43})     -> level 2
//   tree.members({0, 1, 8, 9})               -> {{2 members in 2 domains}}, {{2 in 1}}, {{1 in 1}}
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nest/base/ids.hpp"

namespace nest::cluster {

inline constexpr std::int64_t kMostDevices = std::int64_t{1} << 24;

// How many children the domains of one level have: domains of the level below, or devices at level 0.
struct FanOut {
  std::int32_t size = 1;            // of every domain, unless
  std::vector<std::int32_t> sizes;  // there is one number for each domain, in order

  [[nodiscard]] bool uniform() const { return sizes.empty(); }
  [[nodiscard]] std::int32_t of(std::int32_t domain) const {
    return uniform() ? size : sizes[static_cast<std::size_t>(domain)];
  }
  bool operator==(const FanOut&) const = default;
};
// Of the largest domain.
[[nodiscard]] std::int32_t most_children(const FanOut& fan_out);
// One number where all are alike.
[[nodiscard]] FanOut fan_out_of(std::vector<std::int32_t> sizes);

// So many domains of a level have so many members of a group, a member being a child that holds a device of
// it.
struct MemberCount {
  std::int32_t members = 0;
  std::int32_t domains = 0;
  bool operator==(const MemberCount&) const = default;
};
using LevelMembers = std::vector<MemberCount>;  // by members, ascending

// Why fan-outs make no tree, and at which level.
struct FanOutProblem {
  LevelId level;
  std::string what;
  std::string hint;
};

class DeviceTree {
 public:
  // Innermost level first. Throws an InputError where check_fan_outs finds a problem.
  explicit DeviceTree(std::vector<FanOut> fan_outs);

  [[nodiscard]] std::int32_t levels() const { return static_cast<std::int32_t>(tiers_.size()); }
  [[nodiscard]] std::int32_t devices() const { return devices_; }
  [[nodiscard]] std::int32_t domains(LevelId level) const { return tier(level).domains; }
  // Whether all domains of the level look alike inside.
  [[nodiscard]] bool regular(LevelId level) const { return tier(level).devices_each > 0; }

  // Domains are numbered within their level, in device order.
  [[nodiscard]] std::int32_t domain_of(DeviceId device, LevelId level) const;
  [[nodiscard]] DeviceId first_device(LevelId level, std::int32_t domain) const;
  [[nodiscard]] std::int32_t devices_in(LevelId level, std::int32_t domain) const;
  [[nodiscard]] std::int32_t children(LevelId level, std::int32_t domain) const;
  // The number, within the level below, of a domain's first child (at level 0: its first device).
  [[nodiscard]] std::int32_t first_child(LevelId level, std::int32_t domain) const;
  // Devices in child number `child` of the level below; 1 at level 0.
  [[nodiscard]] std::int32_t devices_in_child(LevelId level, std::int32_t child) const;
  // The domain of `level` that holds child number `child` of the level below.
  [[nodiscard]] std::int32_t parent_of(LevelId level, std::int32_t child) const;

  // Index within its domain, level by level, innermost first.
  [[nodiscard]] std::vector<std::int32_t> coordinates(DeviceId device) const;
  [[nodiscard]] std::optional<DeviceId> device_at(std::span<const std::int32_t> coordinates) const;

  // The innermost level that has a domain with both; none where they are the same device.
  [[nodiscard]] std::optional<LevelId> meet(DeviceId a, DeviceId b) const;

  // For each level, how many members the domains that a set of devices touches have. Repeated devices count
  // once.
  [[nodiscard]] std::vector<LevelMembers> members(std::span<const DeviceId> group) const;

 private:
  struct Tier {
    FanOut fan_out;
    std::int32_t domains = 1;
    std::int32_t devices_each = 0;           // 0 where domains differ: then first_device is filled
    std::vector<std::int32_t> first_device;  // one more than domains
    std::vector<std::int32_t> first_child;   // one more than domains, where the fan-out is uneven
  };
  [[nodiscard]] const Tier& tier(LevelId level) const { return tiers_[level.index()]; }

  std::vector<Tier> tiers_;
  std::int32_t devices_ = 1;
};

// Counts from the outermost level, which has one domain, inwards.
[[nodiscard]] std::optional<FanOutProblem> check_fan_outs(std::span<const FanOut> fan_outs);

}  // namespace nest::cluster
