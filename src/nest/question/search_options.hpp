// How a search goes about its work: what it aims at, when it may stop, and whom it tells.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/base/deadline.hpp"
#include "nest/base/units.hpp"
#include "nest/plan/plan.hpp"
#include "nest/price/price.hpp"
#include "nest/question/prunings.hpp"

namespace nest::question {

enum class Objective {
  step_time,
  devices,  // the fewest that reach a number of tokens per second; the fastest plan of so many
  cost,     // the fewest seconds of rented devices for a step: the same order as money for a token
};
[[nodiscard]] constexpr std::string_view name_of(Objective objective) {
  return objective == Objective::cost ? "cost" : objective == Objective::devices ? "devices" : "step";
}

struct SearchProgress {
  Seconds elapsed;
  Seconds bound;                // nothing is below
  std::optional<Seconds> best;  // of the plans found so far
  std::int64_t fills = 0;       // tables filled
  std::int64_t open = 0;        // configurations that wait
  std::int64_t plans = 0;       // priced one by one, of searches without tables
  std::int64_t batch = 0;       // where any of several may be taken: the one that is searched
};

inline constexpr Bytes kDefaultMemoryLimit{2'000'000'000};

struct SearchOptions {
  PipelineModel pipeline_model = PipelineModel::one_f_one_b;
  Objective objective = Objective::step_time;
  double target_tokens_per_s = 0;  // with Objective::devices
  double gap = 0;                  // stops when the best plan is within this share of the bound
  // Of all searches for one answer together: what changes a question and asks it again shares it. It began
  // when the question was made; a question that is kept and asked anew needs a new one.
  Deadline deadline;
  std::optional<std::int64_t> work_limit;    // transitions of the dynamic program: the same on every machine
  Bytes memory_limit = kDefaultMemoryLimit;  // of tables and open nodes, whatever else is held
  double memory_margin = 0;                  // the share of a device's memory that every plan leaves free
  // Plans that take longer do not count: whoever knows a plan looks for better ones alone.
  std::optional<Seconds> slowest;
  std::optional<std::int64_t> most_devices;  // plans that use more do not count
  bool least_memory = true;          // where nothing fits: whether it finds out how much memory would do
  int threads = 0;                   // 0: one for each core
  int top = 1;                       // plans to prove: the best ones that differ in a degree
  int runners_up = 0;                // more of them, to compare with
  int near_ties = 0;                 // so many besides that are near the best and that it comes across
  std::vector<std::string> without;  // prunings switched off, by name: see pruning_names()
  std::function<void(const SearchProgress&)> progress;  // now and then, from the calling thread

  // How a plan of the search is priced.
  [[nodiscard]] PriceOptions price_options() const {
    return {.pipeline_model = pipeline_model, .memory_margin = memory_margin};
  }
};

}  // namespace nest::question
