// Whether a plan is one: an independent look at every choice, apart from everything that makes or prices
// plans. The first broken rule is one sentence:
//
//   stage 2: device 17 is also in stage 0
#pragma once

#include <optional>
#include <string>

#include "nest/cluster/cluster.hpp"
#include "nest/plan/plan.hpp"
#include "nest/plan/rules/layer_graph.hpp"

namespace nest::plan {

// Layers, stages, degrees, batch and devices. Whether the model's dimensions divide is check_strategy's.
[[nodiscard]] std::optional<std::string> check_plan(const Plan& plan, const LayerGraph& graph,
                                                    const Cluster& cluster);

// The first stage whose memory is not enough.
[[nodiscard]] std::optional<std::string> check_memory(const std::vector<StageMemory>& stages);

}  // namespace nest::plan
