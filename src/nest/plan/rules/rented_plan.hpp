// What must be rented to run a plan: all nodes, or the smallest slices of grids, that its devices lie in.
//
//   rented_devices(plan, cluster) == 16   // 12 devices on nodes of 8
#pragma once

#include <cstdint>

#include "nest/cluster/cluster.hpp"
#include "nest/plan/plan.hpp"

namespace nest::plan {

// The plan must be placed.
[[nodiscard]] std::int64_t rented_devices(const Plan& plan, const Cluster& cluster);

}  // namespace nest::plan
