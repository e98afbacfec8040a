// Bytes that one device of a cell sends to the next stage: the edge's tensor, split as the layers' inputs and
// outputs are: over the context group, and over the tensor group with sequence parallelism or where a
// framework sends a share from each tensor rank and gathers on arrival (scatter-gather).
#pragma once

#include "nest/model/graph/model.hpp"
#include "nest/strategies/strategy.hpp"

namespace nest::strategies {

[[nodiscard]] Bytes boundary_bytes(Bytes whole, const Strategy& strategy, bool scatter_gather = false);
[[nodiscard]] Bytes boundary_bytes(const Edge& edge, const Strategy& strategy, bool scatter_gather = false);

}  // namespace nest::strategies
