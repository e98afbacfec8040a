// Context parallelism: every token tensor holds 1/c of the sequence, and attention sees all of it, either by
// passing keys and values round a ring or by trading sequence shards for head shards (all-to-all).
//
// A causal ring gives each device the chunks i and 2c-1-i of 2c, so that all have the same share of the
// mask's triangle. Its c-1 sends carry the local keys and values forward; backward they go round again
// together with their gradients: twice the bytes. The all-to-all method sends queries, keys and values in and
// the result back; KV heads below c are sent to several devices.
#pragma once

#include "nest/strategies/subgraph_strategy.hpp"

namespace nest::strategies {

[[nodiscard]] SubgraphStrategy context_strategy();

}  // namespace nest::strategies
