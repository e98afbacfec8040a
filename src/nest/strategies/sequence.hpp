// Sequence parallelism: outside of the tensor-parallel regions each tensor rank holds its share of the rows,
// so that norms, residuals and everything else without an axis to split is done once. The region opens with
// an all-gather (backward: reduce-scatter) and closes with a reduce-scatter (backward: all-gather), the same
// bytes as the all-reduces that they replace. What is kept is the share: where a product needs its input
// again for the weight gradient, the backward pass gathers it once more (an operator of its own, "regather").
#pragma once

#include "nest/model/graph/model.hpp"
#include "nest/strategies/subgraph_strategy.hpp"

namespace nest::strategies {

[[nodiscard]] SubgraphStrategy sequence_strategy();

// Whether tensor * context divides all positions of a model. Where it does not (257 patches), tensor parallelism
// goes without sequence parallelism unless somebody asks for both.
[[nodiscard]] bool divides_positions(const Model& model, const Strategy& strategy);

}  // namespace nest::strategies
