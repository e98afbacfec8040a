// Compares a sharded layer with the whole: how many copies there are of each parameter, and which operators
// and parameters add up over the devices to more than the whole, with the reason.
#pragma once

#include "nest/model/graph/layer.hpp"
#include "nest/strategies/sharded_layer.hpp"

namespace nest::strategies {

// Fills `copies` and `expert` of sharded.parameters, and sharded.replicated. `whole` has the same tensors and
// operators at the same indices, with the sizes of the whole.
void list_uneven(const LayerType& whole, ShardedLayer& sharded);

}  // namespace nest::strategies
