// Meshes and tori for tests.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "nest/cluster/level.hpp"

namespace nest::network::test_grids {

inline Level torus(std::vector<std::int32_t> dims, std::vector<bool> wrap) {
  Level out{.name = "slice", .kind = LevelKind::torus, .dims = std::move(dims), .wrap = std::move(wrap)};
  out.fan_out.size = std::accumulate(out.dims.begin(), out.dims.end(), 1, std::multiplies<>());
  return out;
}

inline Level ring_of(std::int32_t children) {
  Level out{.name = "ring", .kind = LevelKind::ring};
  out.fan_out.size = children;
  return out;
}

inline std::vector<std::int32_t> first(std::int32_t n) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

}  // namespace nest::network::test_grids
