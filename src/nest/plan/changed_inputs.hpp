// The same inputs with one thing changed, for questions of the kind "what if": another bandwidth of one level,
// other memory, one more node.
//
//   with_bandwidth(inputs, LevelId{2}, 1.25)   a quarter more bandwidth at the third level
#pragma once

#include <optional>

#include "nest/plan/inputs.hpp"

namespace nest::plan {

[[nodiscard]] PlanInputs with_cluster(const PlanInputs& inputs, Cluster cluster);
// So many times the bandwidth. All levels stay of the fabric that they are: what a library reaches on faster
// links of the same kind is the same share of them.
[[nodiscard]] PlanInputs with_bandwidth(const PlanInputs& inputs, LevelId level, double factor);
[[nodiscard]] PlanInputs with_memory(const PlanInputs& inputs, Bytes memory);
// Hosts whose links and processors are so many times as fast.
[[nodiscard]] PlanInputs with_host(const PlanInputs& inputs, double factor);

// One more domain of the innermost level (a node), beside the others where they leave room in the levels
// outside, in domains of its own otherwise; where there is one level only, one more device. None where a level
// outside is a mesh or torus, whose sides are fixed.
[[nodiscard]] std::optional<PlanInputs> with_one_more_domain(const PlanInputs& inputs);

}  // namespace nest::plan
