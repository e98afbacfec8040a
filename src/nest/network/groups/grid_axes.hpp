// Rings, meshes and tori by their dimensions, and where members lie along each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "nest/cluster/level.hpp"

namespace nest::network {

// The members along one dimension.
struct GridAxis {
  std::int32_t size = 1;
  bool wraps = false;
  std::int32_t count = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
  std::int32_t stride = 1;
  bool even = true;

  // Members come in ascending child order, so each coordinate's first appearances ascend as well.
  void see(std::int32_t at);
  [[nodiscard]] bool closes() const { return wraps && count * stride == size; }
  [[nodiscard]] double links() const { return closes() ? 2.0 : 1.0; }
};

struct GridAxes {
  static constexpr std::size_t kMost = 6;

  std::array<GridAxis, kMost> axis;
  std::size_t size = 0;

  [[nodiscard]] std::int32_t coordinate(std::int32_t child, std::size_t d) const;
  // The neighbour along dimension d, `way` +1 or -1; round where it wraps.
  [[nodiscard]] std::int32_t moved(std::int32_t child, std::size_t d, std::int32_t way) const;
};

// Without members. A ring is a torus of one dimension.
[[nodiscard]] GridAxes grid_axes(const Level& level, std::int32_t children);
// With members, ascending; none where they make no box of even steps.
[[nodiscard]] std::optional<GridAxes> grid_box(const Level& level, std::int32_t children,
                                               std::span<const std::int32_t> at);

}  // namespace nest::network
