// What a search answers.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/base/units.hpp"
#include "nest/plan/plan.hpp"

namespace nest::solve {

struct SearchStats {
  std::int64_t strategies = 0;                               // with micro-batch sizes
  std::int64_t configurations = 0;                           // of degrees and placements that were looked at
  std::int64_t networks = 0;                                 // placements whose network was made
  std::int64_t fills = 0;                                    // tables of the dynamic program
  std::int64_t labels = 0;                                   // kept in them
  std::int64_t work = 0;                                     // transitions tried
  std::vector<std::pair<std::string, std::int64_t>> pruned;  // by name
  std::vector<std::pair<std::string, double>> seconds;       // by phase
};

struct SearchResult {
  PlanStatus status = PlanStatus::infeasible;
  // Best first, each complete, placed and with its results; the first is the answer. No plan of other degrees
  // is better than the last; fewer than asked for where there are no more.
  std::vector<Plan> plans;
  Seconds lower_bound;  // of the objective: seconds a step (devices: of the plan with the fewest devices)
  SearchStats stats;
  // Not empty: price and search disagree about a plan, which is a bug. There is no plan then; `instance` is
  // the plan's JSON with its inputs.
  std::string disagreement;
  Value instance;
  // Where nothing is feasible: the first rule or the lack that stood in the way, as a sentence, and how many
  // bytes a device would need for the plan that comes closest (0: no plan at all, whatever the memory).
  std::string reason;
  Bytes least_memory;
};

}  // namespace nest::solve
