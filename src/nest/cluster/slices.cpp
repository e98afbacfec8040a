#include "nest/cluster/slices.hpp"

#include <algorithm>
#include <utility>

namespace nest::cluster {
namespace {

constexpr std::int32_t kSmallestSlice = 4;  // devices of one host

// The same grid with its longest side (of equal ones the first) cut in two; false where it cannot be.
bool halve(Level& level, std::int64_t wraps_from) {
  const auto longest = std::max_element(level.dims.begin(), level.dims.end());
  if (*longest % 2 != 0 || level.fan_out.size / 2 < kSmallestSlice) return false;
  *longest /= 2;
  level.fan_out.size /= 2;
  const auto side = static_cast<std::size_t>(longest - level.dims.begin());
  if (side < level.wrap.size())
    level.wrap[side] = level.wrap[side] && wraps_from > 0 && *longest >= wraps_from;
  return true;
}

}  // namespace

std::vector<Level> slices_of(const Level& level, std::int64_t wraps_from) {
  std::vector<Level> all{level};
  if (level.is_grid() && level.fan_out.uniform()) {
    for (Level smaller = level; halve(smaller, wraps_from);) all.push_back(smaller);
  }
  std::reverse(all.begin(), all.end());
  return all;
}

std::int64_t rented_of_domain(const Cluster& cluster, std::int64_t size, std::int64_t used) {
  const Level& level = cluster.levels().front();
  if (used == 0 || !level.is_grid()) return used == 0 ? 0 : size;
  for (const Level& slice : slices_of(level, cluster.accelerator().scale_up.wraps_from)) {
    if (slice.fan_out.size >= used) return slice.fan_out.size;
  }
  return size;
}

std::vector<Cluster> smaller_slices(const Cluster& cluster, std::int64_t least) {
  std::vector<Cluster> all;
  const Level& level = cluster.levels().front();
  if (!level.is_grid()) return all;
  for (Level& slice : slices_of(level, cluster.accelerator().scale_up.wraps_from)) {
    if (slice.fan_out.size < least || slice.fan_out == level.fan_out) continue;
    ClusterParts parts = cluster.parts();
    parts.levels = {std::move(slice)};
    parts.device_names.clear();
    all.emplace_back(std::move(parts));
  }
  return all;
}

}  // namespace nest::cluster
