// Expert parallelism: experts over e devices, each expert's ffn over x, folded over the cell's tensor and
// context ranks. Every device routes the tokens that it holds. An all-to-all sends them to the experts'
// devices and a second one back. With x > 1 the rows of x devices are gathered before the experts, each works
// on 1/x of the columns, and the results are reduce-scattered. Either way a device does the work of the rows
// that it sent, and the w devices that of `side` micro-batches.
//
// Where tensor ranks hold the same tokens (no sequence parallelism), x must be t: each rank works on its
// columns of all rows, and the results are summed after the combine, the gradients before the dispatch.
//
// The imbalance is the load of the fullest device over the mean; it counts in rows and in all-to-all bytes,
// and only where e > 1. Shared experts are ordinary feed-forward layers: the tensor strategy splits them.
#pragma once

#include "nest/strategies/subgraph_strategy.hpp"

namespace nest::strategies {

[[nodiscard]] SubgraphStrategy expert_strategy();

[[nodiscard]] bool has_experts(const LayerType& layer);
// Whether an operator belongs to the experts that every token goes through.
[[nodiscard]] bool is_shared_expert(const Operator& op);
// Whether it works on rows that were sent to experts, or puts them in order.
[[nodiscard]] bool is_routed_expert(const LayerType& layer, const Operator& op);

}  // namespace nest::strategies
