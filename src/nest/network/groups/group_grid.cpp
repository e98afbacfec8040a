#include "nest/network/groups/group_grid.hpp"

#include <algorithm>
#include <optional>

#include "nest/network/groups/grid_axes.hpp"

namespace nest::network {
namespace {

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
  const std::optional<GridAxes> box = grid_box(level, children, at);
  if (!box) return one_ring(level, children, at, siblings);
  const GridAxes& axes = *box;
  GridShare out;
  const double all_links = level.links(children);
  const auto n = static_cast<double>(at.size());
  double used = 0;
  out.exchange = 1 - 1 / n;
  for (std::size_t d = 0; d < axes.size; ++d) {
    const GridAxis& axis = axes.axis[d];
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
