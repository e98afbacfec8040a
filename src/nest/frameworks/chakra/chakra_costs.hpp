// What a plan's passes consist of, in a simulator's terms: compute with its operations and bytes, and the
// collectives of one pass added up by kind and group. What price hides behind compute is told apart by
// shares: a trace runs that part beside the compute, and the rest after it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nest/frameworks/chakra/chakra_groups.hpp"
#include "nest/frameworks/chakra/chakra_node.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/price/price.hpp"

namespace nest::frameworks {

struct ChakraWork {
  Seconds time;
  double operations = 0;
  double bytes = 0;  // of memory

  ChakraWork& operator+=(const ChakraWork& other);
};

struct ChakraSum {
  ChakraCollective kind = ChakraCollective::all_reduce;
  ChakraRole role;
  std::string name;   // "tensor", "expert", ...
  double bytes = 0;   // as CollectiveCall quotes them; of an all-gather what comes out
  double hidden = 0;  // share that runs beside the compute
  double calls = 1;   // so many collectives, each with its part of the bytes
};

struct ChakraPass {
  ChakraWork work;
  std::vector<ChakraSum> collectives;

  // No such pass runs: where nothing is trained up to here, no gradient is waited for.
  [[nodiscard]] bool nothing() const { return work.time.value <= 0 && collectives.empty(); }
};

struct ChakraChunk {
  ChakraPass forward;
  ChakraPass backward;  // without weight gradients where the schedule splits them
  ChakraPass weight;    // ZB-H1 only
};

struct ChakraStage {
  std::vector<ChakraChunk> chunks;
  std::vector<ChakraSum> reduces;  // the tied weights' one, the last, apart
  std::vector<ChakraSum> gathers;
  double tied_bytes = 0;  // summed over the stages that hold a copy; 0: none
  ChakraWork norm;
  ChakraWork optimizer;
};

// Bytes of memory that a roofline takes long enough for: the simulator stops at compute of 0 ns.
[[nodiscard]] std::int64_t least_tensor_bytes(const Cluster& cluster);

// The plan is placed and priced on these inputs.
[[nodiscard]] std::vector<ChakraStage> chakra_stages(const Plan& plan, const PricedPlan& priced,
                                                     const PlanInputs& inputs);

}  // namespace nest::frameworks
