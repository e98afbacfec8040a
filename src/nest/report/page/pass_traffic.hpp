// Bytes that the passes of a step send over each level of the network: collectives inside cells, and what
// ZeRO-2 and ZeRO-3 gather and reduce for every micro-batch. A simulated step has their times inside its
// passes and tells nothing of their bytes; sends and the end of the step are LinkBytes' part.
//
//   pass_traffic(placed, inputs)[0].tensor   -> bytes of all tensor groups over level 0 in one step
#pragma once

#include <vector>

#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/report/page/domain_traffic.hpp"

namespace nest::report {

struct PassTraffic {
  double tensor = 0;
  double context = 0;
  double expert = 0;      // expert and expert tensor groups
  double gradients = 0;   // reduced for every micro-batch
  double parameters = 0;  // gathered for every pass
};

// By level, innermost first, all copies together. A layer profile says nothing of collectives inside cells:
// its figures have ZeRO's traffic alone. `domains`, where there is one, is told of every byte too.
[[nodiscard]] std::vector<PassTraffic> pass_traffic(const Plan& placed, const PlanInputs& inputs,
                                                    DomainTraffic* domains = nullptr);

}  // namespace nest::report
