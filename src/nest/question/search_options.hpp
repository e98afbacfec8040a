// How a search goes about its work: what it aims at, when it may stop, and whom it tells.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "nest/base/units.hpp"
#include "nest/plan/plan.hpp"
#include "nest/question/prunings.hpp"

namespace nest::question {

enum class Objective {
  step_time,
  devices,  // the fewest that reach a number of tokens per second; the fastest plan of so many
};

struct SearchProgress {
  Seconds elapsed;
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
  std::optional<Seconds> time_limit;       // of the wall clock
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

}  // namespace nest::question
