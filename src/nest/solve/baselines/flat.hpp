// The search on a flat network, in which one switch with the speed of the innermost level joins all
// devices. Its plan is then placed and priced on the real cluster.
//
//   const BaselineResult flat = find_flat(question, {});
//   *flat.believed < flat.plan->predicted->step      // by what the slow levels cost
#pragma once

#include <optional>

#include "nest/cluster/cluster.hpp"
#include "nest/solve/baselines/common/baseline.hpp"

namespace nest::solve {

// The same devices under one switch with the bandwidth and the latency of the innermost level.
[[nodiscard]] Cluster flat_cluster(const Cluster& cluster, std::optional<BytesPerSecond> bandwidth = {});

// The answer of a search of `space` on the flat cluster, judged on the question's own.
[[nodiscard]] BaselineResult find_on_flat(const PlanQuestion& question, SearchSpace space,
                                          const BaselineOptions& options);

[[nodiscard]] BaselineResult find_flat(const PlanQuestion& question, const BaselineOptions& options);

}  // namespace nest::solve
