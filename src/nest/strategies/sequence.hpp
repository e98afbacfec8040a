// Sequence parallelism: outside of the tensor-parallel regions each tensor rank holds its share of the rows,
// so that norms, residuals and everything else without an axis to split is done once. The region opens with
// an all-gather (backward: reduce-scatter) and closes with a reduce-scatter (backward: all-gather), the same
// bytes as the all-reduces that they replace. What is kept is the share: where a product needs its input
// again for the weight gradient, the backward pass gathers it once more (an operator of its own, "regather").
#pragma once

#include "nest/strategies/subgraph_strategy.hpp"

namespace nest::strategies {

[[nodiscard]] SubgraphStrategy sequence_strategy();

}  // namespace nest::strategies
