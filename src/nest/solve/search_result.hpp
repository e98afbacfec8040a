// What a search answers.
#pragma once

#include <cstdint>
#include <optional>
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
  std::vector<std::pair<std::string, Seconds>> times;        // by phase

  // Another search for the same answer; prunings and times stay its own.
  void add(const SearchStats& other) {
    strategies += other.strategies;
    configurations += other.configurations;
    networks += other.networks;
    fills += other.fills;
    labels += other.labels;
    work += other.work;
  }
};

// A plan that takes longer than the best by a smaller share may stand in its place.
inline constexpr double kNear = 0.005;

struct SearchResult {
  PlanStatus status = PlanStatus::infeasible;
  // Best first, each complete, placed and with its results; the first is the answer. No plan of other degrees
  // is better than the last; fewer than asked for where there are no more.
  std::vector<Plan> plans;
  // What answer() adds, see answer.hpp. A plan within kNear of the first, without complications that the first
  // has; and the best plan that fits by the estimate alone, where it is faster.
  std::optional<Plan> simpler;
  std::vector<std::string> avoids;  // those complications
  std::optional<Plan> risky;
  std::optional<Plan> better_batch;  // with a batch near the one asked for, see batches.hpp
  bool safety_known = false;  // whether it is certain that no plan without a margin is faster than that
  // The clock ended the search before all of this had been looked for: with more time another plan may stand in for
  // the first. What is missing is missing as a whole, so that there is one answer with time enough and one without.
  bool further_stopped = false;

  // The plan to take: the first, or a simpler one. There must be a plan.
  [[nodiscard]] const Plan& plan() const { return simpler ? *simpler : plans.front(); }

  // Degrees (strategy, pipeline, data) whose bound is within kNear of the best plan: all others are farther away.
  std::vector<Parallelism> near_degrees;

  Seconds lower_bound;  // of the objective: seconds a step (devices: of the plan with the fewest devices)
  SearchStats stats;
  // Why there is no plan, as a sentence: the first rule or the lack that stood in the way, the limit, or what
  // search and price disagree about.
  std::string reason;
  // Where nothing is feasible: how many bytes a device would need for the plan that comes closest (0: there
  // is no plan, whatever the memory).
  Bytes least_memory;
  Value instance;  // of a disagreement: the plan's JSON with its inputs, for whoever mends it
};

}  // namespace nest::solve
