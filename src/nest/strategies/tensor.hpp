// Tensor parallelism after Megatron: products that make heads, ffn or vocabulary are split by column, those
// that contract such an axis by row, and what lies between follows. A region opens with a collective that
// sums the input's gradient in the backward pass and closes with one that sums partial results in the forward
// pass; several products of one input share the opening. Norms, routers, latent projections, positions and
// heads without a vocabulary have no axis to split and run on every rank. Routed experts are the expert
// strategy's.
#pragma once

#include "nest/strategies/subgraph_strategy.hpp"

namespace nest::strategies {

[[nodiscard]] SubgraphStrategy tensor_strategy();

// Whether tensor parallelism splits this axis (of all but routed experts).
[[nodiscard]] bool is_tensor_axis(Axis axis);

}  // namespace nest::strategies
