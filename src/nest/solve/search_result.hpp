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

// Whether a search looked at all that it was asked to look at. What a limit ended is the opposite; a disagreement is
// neither.
[[nodiscard]] constexpr bool ended(PlanStatus status) {
  return status == PlanStatus::optimal || status == PlanStatus::infeasible;
}
[[nodiscard]] constexpr bool cut_short(PlanStatus status) {
  return status == PlanStatus::feasible || status == PlanStatus::limit;
}

// Steps that differ by a smaller share cannot be told apart: predictions of single steps err by 3 % in the median,
// and two plans of one question share a part of that.
inline constexpr double kNoise = 0.02;
// A plan that takes longer than the best by a smaller share may stand in its place (simpler.hpp).
inline constexpr double kNear = 0.005;

// What a margin of memory costs, by what the objective counts.
struct Safety {
  double costs = 0;    // more than of the best plan found without it, as a share
  bool known = false;  // no plan without it is better than that one
  // Where it is not: by so large a share at most is a plan without it better.
  std::optional<double> most;
};

struct BatchesProof {
  std::size_t asked = 0;
  std::size_t bounded = 0;  // of them have a bound, and no plan with one of them
  double most_per_s = 0;    // trains on more sequences a second than this
};

struct SearchResult {
  PlanStatus status = PlanStatus::infeasible;
  // Best first, each complete, placed and with its results; the first is the answer. No plan of other degrees
  // is better than the last; fewer than asked for where there are no more.
  std::vector<Plan> plans;
  // After those, others within kNoise of the first that the search came across: there may be more of them.
  std::vector<Plan> near_ties;
  // Where any of several batches may be taken: what is proved of all of them.
  std::optional<BatchesProof> batches;
  // What answer() adds, see answer.hpp. A plan near the first, with no more devices and without complications that
  // the first has; and the best plan that fits by the estimate alone, where it is faster.
  std::optional<Plan> simpler;
  std::vector<std::string> avoids;  // those complications
  std::optional<Plan> risky;
  Safety safety;                     // what leaving a margin of memory costs
  std::optional<Plan> better_batch;  // with a batch near the one asked for, see batches.hpp
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
