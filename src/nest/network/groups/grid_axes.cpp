#include "nest/network/groups/grid_axes.hpp"

namespace nest::network {

void GridAxis::see(std::int32_t at) {
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

std::int32_t GridAxes::coordinate(std::int32_t child, std::size_t d) const {
  for (std::size_t i = 0; i < d; ++i) child /= axis[i].size;
  return child % axis[d].size;
}

std::int32_t GridAxes::moved(std::int32_t child, std::size_t d, std::int32_t way) const {
  std::int32_t apart = 1;
  for (std::size_t i = 0; i < d; ++i) apart *= axis[i].size;
  const std::int32_t here = coordinate(child, d);
  const std::int32_t there = (here + way + axis[d].size) % axis[d].size;
  return child + (there - here) * apart;
}

GridAxes grid_axes(const Level& level, std::int32_t children) {
  GridAxes axes;
  if (!level.is_grid()) {
    axes.axis[axes.size++] = GridAxis{.size = children, .wraps = true};
    return axes;
  }
  for (std::size_t d = 0; d < level.dims.size() && d < GridAxes::kMost; ++d) {
    axes.axis[axes.size++] = GridAxis{.size = level.dims[d], .wraps = level.wrap[d]};
  }
  return axes;
}

std::optional<GridAxes> grid_box(const Level& level, std::int32_t children,
                                 std::span<const std::int32_t> at) {
  GridAxes axes = grid_axes(level, children);
  for (const std::int32_t child : at) {
    std::int32_t rest = child;
    for (std::size_t d = 0; d < axes.size; ++d) {
      axes.axis[d].see(rest % axes.axis[d].size);
      rest /= axes.axis[d].size;
    }
  }
  std::int64_t box = 1;
  bool even = true;
  for (std::size_t d = 0; d < axes.size; ++d) {
    box *= axes.axis[d].count;
    even = even && axes.axis[d].even;
  }
  if (!even || box != static_cast<std::int64_t>(at.size())) return std::nullopt;
  return axes;
}

}  // namespace nest::network
