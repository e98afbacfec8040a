// The exhaustive counterpart of the search: plain loops over every plan of a space, each of which is
// priced. It shares nothing with the search except the price and the placement rule, and so it can prove
// the search on small spaces.
//
//   const BruteForceResult all = brute_force(inputs, training, space, options, 50'000);
//   all.complete, all.plans, *all.step
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/question/search_options.hpp"
#include "nest/question/search_space.hpp"

namespace nest::solve {

struct BruteForceResult {
  std::int64_t plans = 0;       // priced or refused
  bool complete = true;         // false: there are more than the limit
  std::optional<Plan> best;     // of the feasible ones, with its results
  std::optional<Seconds> step;  // of the best
};

// Of the options: pipeline model, memory margin, objective, target and the most devices. With Objective::cost,
// `step` is that of the cheapest.
[[nodiscard]] BruteForceResult brute_force(const PlanInputs& inputs, const Training& training,
                                           const SearchSpace& space, const SearchOptions& options,
                                           std::int64_t most_plans);

// How many plans a space has; `most_plans` + 1 where they are more than that. Prices none.
[[nodiscard]] std::int64_t count_plans(const PlanInputs& inputs, const Training& training,
                                       const SearchSpace& space, std::int64_t most_plans);

// Calls `visit` with every plan, complete but for its devices, until it returns false. Whether that was all.
bool for_each_plan(const PlanInputs& inputs, const Training& training, const SearchSpace& space,
                   const std::function<bool(const Plan&)>& visit);

}  // namespace nest::solve
