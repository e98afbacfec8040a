// Groups with a regular pattern of device ids, whose shape costs no list of ids: what solvers ask for
// millions of times.
//
//   // data-parallel groups of 4 cells of 8, all 8 of them talking: members 0, 8, 16, 24 and so on
//   pattern_shape(cluster, {.start = DeviceId{0}, .members = {{8, 4}}, .siblings = {{1, 8}}});
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "nest/network/groups/group.hpp"

namespace nest::network {

// `count` steps of `stride` ids.
struct Stride {
  std::int32_t stride = 1;
  std::int32_t count = 1;
};

// Up to four strides; those of one step are dropped.
class Strides {
 public:
  Strides() = default;
  Strides(std::initializer_list<Stride> strides);
  [[nodiscard]] std::span<const Stride> all() const { return {strides_.data(), size_}; }
  [[nodiscard]] std::int32_t count() const;

 private:
  std::array<Stride, 4> strides_{};
  std::size_t size_ = 0;
};

// Members: start + i * stride for i < count, over all strides; siblings: the same group moved by their
// strides.
struct GroupPattern {
  DeviceId start;
  Strides members;
  Strides siblings;
};

// The ids of the pattern's own group, and of all its siblings with it first.
[[nodiscard]] std::vector<DeviceId> pattern_group(const GroupPattern& pattern);
[[nodiscard]] std::vector<std::vector<DeviceId>> pattern_siblings(const GroupPattern& pattern);

// What group_shapes says of the pattern's own group. O(levels) where the strides fall in with the domains,
// else it lists the ids. All devices of the siblings must exist and differ.
[[nodiscard]] GroupShape pattern_shape(const Cluster& cluster, const GroupPattern& pattern);

}  // namespace nest::network
