// Bytes that one device of a cell sends to the next stage: the edge's tensor, split as the layers' inputs and
// outputs are: over the context group, and over the tensor group with sequence parallelism.
#pragma once

#include "nest/model/graph/model.hpp"
#include "nest/strategies/strategy.hpp"

namespace nest::strategies {

[[nodiscard]] Bytes boundary_bytes(Bytes whole, const Strategy& strategy);
[[nodiscard]] Bytes boundary_bytes(const Edge& edge, const Strategy& strategy);

}  // namespace nest::strategies
