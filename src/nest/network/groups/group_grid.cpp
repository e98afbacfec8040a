#include "nest/network/groups/group_grid.hpp"

#include <algorithm>
#include <array>

namespace nest::network {
namespace {

constexpr std::size_t kMostAxes = 6;

// The members along one dimension.
struct Axis {
  std::int32_t size = 1;
  bool wraps = false;
  std::int32_t count = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
  std::int32_t stride = 1;
  bool even = true;

  // Members come in ascending child order, so each coordinate's first appearances ascend as well.
  void see(std::int32_t at) {
    if (count == 0) first = last = at;
    if (count == 0 || at > last) {
      if (count == 1) stride = at - last;
      if (count > 1) even = even && at - last == stride;
      last = at;
      ++count;
    } else {
      even = even && at >= first && (at - first) % stride == 0;
    }
  }
  [[nodiscard]] bool closes() const { return wraps && count * stride == size; }
  [[nodiscard]] double links() const { return closes() ? 2.0 : 1.0; }
};

struct Axes {
  std::array<Axis, kMostAxes> axis;
  std::size_t size = 0;
};

Axes axes_of(const Level& level, std::int32_t children) {
  Axes axes;
  if (!level.is_grid()) {
    axes.axis[axes.size++] = Axis{.size = children, .wraps = true};
    return axes;
  }
  for (std::size_t d = 0; d < level.dims.size() && d < kMostAxes; ++d) {
    axes.axis[axes.size++] = Axis{.size = level.dims[d], .wraps = level.wrap[d]};
  }
  return axes;
}

GridShare one_ring(const Level& level, std::int32_t children, std::span<const std::int32_t> at,
                   bool siblings) {
  GridShare out;
  for (std::size_t i = 0; i + 1 < at.size(); ++i) out.steps += level.hops(at[i], at[i + 1], children);
  const std::int32_t round = out.steps + level.hops(at.back(), at.front(), children);
  const double links = level.links(children);
  // Siblings lie between the members: each link carries as many rings as a hop has links on average.
  const auto n = static_cast<double>(at.size());
  const double shared = siblings ? std::max(1.0, round / n) : 1;
  out.fraction = 1 / (links * shared);
  out.exchange = std::max(1 - 1 / n, n / 4 * links * shared);
  return out;
}

}  // namespace

GridShare grid_share(const Level& level, std::int32_t children, std::span<const std::int32_t> at,
                     bool siblings) {
  Axes axes = axes_of(level, children);
  std::int64_t box = 1;
  for (const std::int32_t child : at) {
    std::int32_t rest = child;
    for (std::size_t d = 0; d < axes.size; ++d) {
      axes.axis[d].see(rest % axes.axis[d].size);
      rest /= axes.axis[d].size;
    }
  }
  bool even = true;
  for (std::size_t d = 0; d < axes.size; ++d) {
    box *= axes.axis[d].count;
    even = even && axes.axis[d].even;
  }
  if (!even || box != static_cast<std::int64_t>(at.size())) return one_ring(level, children, at, siblings);

  GridShare out;
  const double all_links = level.links(children);
  const auto n = static_cast<double>(at.size());
  double used = 0;
  out.exchange = 1 - 1 / n;
  for (std::size_t d = 0; d < axes.size; ++d) {
    const Axis& axis = axes.axis[d];
    if (axis.count < 2) continue;
    const double links = axis.links() / (siblings ? axis.stride : 1);
    used += links;
    // Half of what each side sends crosses the middle of every line along d.
    const auto smaller = axis.count / 2;  // whole members on each side of the middle
    const auto larger = axis.count - smaller;
    const double crossing = static_cast<double>(smaller) * larger / axis.count;
    out.exchange = std::max(out.exchange, crossing * all_links / links);
    const std::int32_t stride =
        axis.closes() ? axis.stride
                      : std::min(axis.stride, axis.wraps ? axis.size - axis.stride : axis.stride);
    out.steps += (axis.count - 1) * stride;
  }
  out.fraction = std::min(1.0, used / all_links);
  return out;
}

}  // namespace nest::network
