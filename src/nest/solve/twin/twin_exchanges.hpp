// For the exhaustive search: every way to exchange tokens with experts that a space has, listed without the search's own
// code.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "nest/plan/inputs.hpp"
#include "nest/question/search_space.hpp"

namespace nest::solve {

// Dispatchers, each with and without overlap. Layer profiles know none, and nothing is sent where experts stay together.
[[nodiscard]] inline std::vector<std::pair<Dispatcher, bool>> twin_exchanges(const PlanInputs& inputs,
                                                                             const SearchSpace& space,
                                                                             std::int64_t expert) {
  if (expert == 1 || inputs.profile() != nullptr) return {{Dispatcher::alltoall, false}};
  std::vector<Dispatcher> dispatchers = space.dispatchers;
  if (dispatchers.empty()) dispatchers = {inputs.recipe.dispatcher};
  std::vector<bool> overlaps = space.expert_overlap;
  if (overlaps.empty()) overlaps = {false, true};  // as the schedule has it: see below
  std::vector<std::pair<Dispatcher, bool>> all;
  for (const Dispatcher dispatcher : dispatchers) {
    for (const bool overlap : overlaps) all.emplace_back(dispatcher, overlap);
  }
  return all;
}

// Where the space says nothing, exchanges overlap where the recipe's framework has it, and always in DualPipeV's pairs.
[[nodiscard]] inline bool twin_exchange_suits(const PlanInputs& inputs, const SearchSpace& space,
                                              const Strategy& strategy, Schedule schedule) {
  if (!space.expert_overlap.empty() || strategy.expert == 1 || inputs.profile() != nullptr) return true;
  return strategy.expert_overlap == (inputs.recipe.expert_overlap || schedule == Schedule::dualpipe_v);
}

}  // namespace nest::solve
