// Finds how large a cluster must be for a training run: the fewest devices that train on a number of
// tokens within a number of days, the plan for them, what fewer nodes reach, and what a quarter,
// half, twice and four times as many would take. Failures and checkpoints (RunTerms of the question) count.
//
//   const Sizing sized = size_cluster(question, {.tokens = 15e12, .days = 60});
//   sized.answer->devices == 2'048, sized.answer->cost.days, sized.answer->cost.device_hours
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nest/plan/plan.hpp"
#include "nest/price/run/run_cost.hpp"
#include "nest/question/question.hpp"
#include "nest/solve/search_result.hpp"

namespace nest::solve {

struct SizingTask {
  double tokens = 0;
  double days = 0;
  double uptime = 1;  // share of the days that is spent training, besides failures

  // That must be trained on while nothing fails.
  [[nodiscard]] double target_tokens_per_s() const { return tokens / (days * kSecondsPerDay * uptime); }
};

inline constexpr double kNearly = 0.5;  // of the target: what reaches less is no near miss

struct SizedPlan {
  Plan plan;
  PlanInputs inputs;
  std::int64_t devices = 0;  // that the plan uses
  std::int64_t rented = 0;   // whole nodes, or a slice: they are not sold in parts
  Goodput goodput;
  RunCost cost;      // of the whole task
  double reach = 0;  // of the target, failures considered: 1 or more is enough
};

struct Sizing {
  PlanStatus status = PlanStatus::infeasible;  // of the answer: optimal means that no fewer devices do
  // That are enough and, where `status` is optimal, no fewer are. Whole nodes are rented, and the answer's plan uses
  // them all if that is faster.
  std::int64_t fewest = 0;
  double target_tokens_per_s = 0;
  std::optional<SizedPlan> answer;
  // Ascending: the fastest plans of fewer whole nodes, which do not reach the target. Where no number of devices
  // reaches it, those that come nearest.
  std::vector<SizedPlan> near_misses;
  std::vector<SizedPlan> others;  // more and fewer devices, ascending, each with its fastest plan
  bool stopped = false;           // a limit came before all of them were asked
  std::string reason;             // why there is no answer
};

// The cluster of the question gives levels and accelerator; it grows where it is too small. `asking` is
// called before each search with the devices of its cluster.
[[nodiscard]] Sizing size_cluster(const PlanQuestion& question, const SizingTask& task,
                                  const std::function<void(std::int64_t)>& asking = {});

// A plan of a search with what it costs; `rented` where that is more than the nodes of the plan.
[[nodiscard]] SizedPlan sized_plan(const SearchResult& found, const PlanInputs& inputs, const RunCosts& costs,
                                   const SizingTask& task, std::optional<std::int64_t> rented = {});

}  // namespace nest::solve
