// How a trace writes a collective whose group has several members in each of several domains. The simulator
// charges each message of a ring at the innermost level at which its ends differ, so that one ring over all
// members would never see the slow links. The group is a grid over the levels; its collective becomes
//
//   ideal networks     one collective for each level, one after the other: all-reduce of 16 ranks in 2 nodes
//                      = reduce-scatter of 8, all-reduce of 2 over an eighth of the bytes, all-gather of 8
//   libraries          all levels work at once: the collective of the slowest level, with the bytes that a
//                      ring over all members carries there
#pragma once

#include <vector>

#include "nest/frameworks/chakra/chakra_costs.hpp"
#include "nest/frameworks/chakra/chakra_groups.hpp"
#include "nest/frameworks/chakra/chakra_network.hpp"

namespace nest::frameworks {

struct ChainLink {
  ChakraCollective kind = ChakraCollective::all_reduce;
  ChakraRole role;
  std::int64_t members = 1;
  double bytes = 0;  // of an all-gather what comes out
};

struct ChainRules {
  std::vector<ChakraLevel> levels;  // of the network, innermost first
  bool at_once = false;             // as a library's rings
  // The simulator runs all-to-alls of groups as rings of n(n-1)/2 steps: bytes that make up for it.
  bool ring_all_to_all = false;
};

// Nothing where nobody else takes part.
[[nodiscard]] std::vector<ChainLink> chain_of(const ChakraSum& sum, std::size_t stage, ChakraGroups& groups,
                                              const ChainRules& rules);

// Whether no NPU is in two different groups, or in that of all NPUs, for its all-to-alls: the simulator then
// takes an algorithm for them that is not a ring.
[[nodiscard]] bool one_all_to_all_each(const std::vector<ChakraStage>& stages, ChakraGroups& groups,
                                       const ChainRules& rules);

}  // namespace nest::frameworks
