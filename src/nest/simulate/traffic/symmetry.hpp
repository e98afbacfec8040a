// Copies of the pipeline that see the same network need to be simulated once. Two copies are alike when, at
// every boundary between stages, their pairs have the same shapes and their fullest link is equally full with
// all copies sending.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "nest/simulate/traffic/traffic.hpp"

namespace nest::simulate {

using BoundaryRoutes = std::vector<Routes>;  // of every copy, at one boundary and in one direction

// Lists of copies that are alike; the first of each list stands for it.
[[nodiscard]] std::vector<std::vector<std::size_t>> alike_copies(std::span<const BoundaryRoutes> boundaries,
                                                                 std::size_t copies, const LinkTable& links);

// What the copies of a list do together, on links that matter only; shapes are the first copy's.
[[nodiscard]] Routes joint_routes(const BoundaryRoutes& boundary, std::span<const std::size_t> copies,
                                  const std::vector<bool>& matters);

}  // namespace nest::simulate
