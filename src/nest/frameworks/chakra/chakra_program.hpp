// The trace of one stage's ranks, which differ only in their neighbours and groups: tasks in the schedule's
// order, and the end of the step.
//
// A simulated NPU runs one compute node and one communication node (receives apart) at a time, and takes the
// lowest id that is ready. Here every compute node waits for the one before it, and every collective and send
// for the one before it, so that all ranks of a group issue the same collectives in the same order:
//
//   receive -> [collectives that price hides | compute] -> other collectives -> send
//
// A collective of the price is one of the trace, at least of as many bytes as it has members, below 2 GiB: the
// simulator hangs on less, and counts in 32 bits in places.
//
// Parameters that the step before has updated are gathered at the start, beside the first forward passes, as
// price has it; gradients are reduced beside the last backward passes and after them. The norm goes along the
// pipeline and back as messages of a few bytes, so that no stage updates before all have reduced.
#pragma once

#include <cstdint>
#include <vector>

#include "nest/frameworks/chakra/chakra_chain.hpp"
#include "nest/frameworks/chakra/chakra_costs.hpp"
#include "nest/frameworks/chakra/chakra_groups.hpp"
#include "nest/frameworks/chakra/chakra_node.hpp"

namespace nest::frameworks {

struct ChakraOptions {
  // Parts of a pass, each with its share of the compute and of every collective: more of them show how both
  // alternate, and make longer traces.
  std::int64_t slices = 1;
  std::int64_t least_tensor_bytes = 1;  // of compute
};

struct ProgramNode {
  ChakraNode node;       // without group, from and to
  ChakraRole role;       // of a collective
  std::size_t peer = 0;  // of a message: the stage at its other end
};

// Everything that the stages' programs follow from; outlives them.
struct ProgramQuestion {
  const Plan& plan;
  const PricedPlan& priced;
  const std::vector<ChakraStage>& stages;
  ChakraGroups& groups;
  ChakraOptions options;
  ChainRules chain = {};
};

[[nodiscard]] std::vector<ProgramNode> stage_program(const ProgramQuestion& question, std::size_t stage);

// The highest tag of a message; the simulator's own messages begin at kTagLimit.
[[nodiscard]] std::int64_t highest_tag(const Plan& plan);
inline constexpr std::int64_t kTagLimit = 500'000'000;

}  // namespace nest::frameworks
