// Bandwidth and latency of a cluster's levels from collective benchmarks: each test moves the outermost level that its
// ranks span, so that a test inside a node and one over several nodes tell the two apart.
//
//   fit_network(cluster, recipe, tests)[0]   -> {"node", bandwidth 0.93, latency 1.2}
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nest/cluster/cluster.hpp"
#include "nest/plan/calibration.hpp"
#include "nest/recipe/recipe.hpp"
#include "nest/validate/calibrate/fit_runs.hpp"
#include "nest/validate/collectives/nccl_tests.hpp"

namespace nest::validate {

struct NamedTest {
  std::string name;  // of the file
  NcclTest test;
};

struct NetworkFit {
  std::vector<LevelMultiples> levels;
  std::vector<MeasuredFigure> rows;
};

// Tests that do not fit the cluster are InputErrors.
[[nodiscard]] NetworkFit fit_network(const Cluster& cluster, const Recipe& recipe,
                                     std::span<const NamedTest> tests);

}  // namespace nest::validate
