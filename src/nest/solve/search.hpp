// The search for the plan of lowest price in a space of plans, with a proof: no plan of the space is below
// the lower bound that comes with it.
//
//   SearchOptions options;
//   const SearchResult found = search(inputs, {.global_batch = 1024, .sequence = 8192}, space, options);
//   found.status == PlanStatus::optimal, found.plans.front().predicted->step
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/solve/search_space.hpp"

namespace nest {

enum class Objective {
  step_time,
  devices,  // the fewest that reach a number of tokens per second; the fastest plan of so many
};

struct SearchProgress {
  double elapsed_s = 0;
  Seconds bound;                // nothing is below
  std::optional<Seconds> best;  // of the plans found so far
  std::int64_t fills = 0;       // tables filled
  std::int64_t open = 0;        // configurations that wait
  std::int64_t plans = 0;       // priced one by one, of searches without tables
};

struct SearchOptions {
  PipelineModel pipeline_model = PipelineModel::one_f_one_b;
  Objective objective = Objective::step_time;
  double target_tokens_per_s = 0;          // with Objective::devices
  double gap = 0;                          // stops when the best plan is within this share of the bound
  std::optional<double> time_limit_s;      // of the wall clock
  std::optional<std::int64_t> work_limit;  // transitions of the dynamic program: the same on every machine
  // Set by another thread when the answer is no longer wanted: the search then ends as at a time limit.
  const std::atomic<bool>* cancel = nullptr;
  int threads = 0;                   // 0: one for each core
  int top = 1;                       // plans to prove: the best ones that differ in a degree
  int runners_up = 0;                // more of them, to compare with
  std::vector<std::string> without;  // prunings switched off, by name: see pruning_names()
  std::function<void(const SearchProgress&)> progress;  // now and then, from the calling thread
};

[[nodiscard]] inline bool cancelled(const SearchOptions& options) {
  return options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed);
}

// Every pruning and bound that SearchOptions::without may name.
[[nodiscard]] const std::vector<std::string>& pruning_names();

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

// `training`: global batch, sequence, precision and optimizer; micro-batches are searched. Throws an
// InputError where the model cannot be built so.
[[nodiscard]] SearchResult search(const PlanInputs& inputs, const Training& training,
                                  const SearchSpace& space, const SearchOptions& options = {});

}  // namespace nest
