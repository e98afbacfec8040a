// Memory that a ring of context ranks takes while it turns, besides what attention keeps for its backward pass. With r
// ranks, and bytes of one rank's keys and values KV, queries Q and results O:
//
//   forward                            r KV + (r + 2) O     of the last rank, all of whose steps make whole results
//   forward, results are merged        r KV + 3 O           a step's result and the 32-bit sum
//   backward                           5 KV + 2 Q + O       keys and gradients, to send and to receive; what a step adds
//
// Transformer Engine keeps the keys, values and results of all steps (AttnFuncWithCPAndKVP2P: p2p_comm_buffers and
// out_per_step are lists that end with the function); torch gathers all keys and values at once, its default, and
// merges. Both have two buffers for the backward pass.
#pragma once

#include "nest/base/units.hpp"
#include "nest/model/graph/layer.hpp"

namespace nest::estimate {

// The attention core whose keys and values a collective passes on; none where it is no ring.
[[nodiscard]] const Operator* core_of_ring(const LayerType& layer, const Operator& collective);

// Of the ring that needs most, on one device; nothing without rings.
[[nodiscard]] Bytes ring_buffers(const LayerType& layer, bool merges_steps);

}  // namespace nest::estimate
