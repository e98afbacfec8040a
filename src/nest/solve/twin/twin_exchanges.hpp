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
  if (overlaps.empty()) overlaps = {inputs.recipe.expert_overlap};
  std::vector<std::pair<Dispatcher, bool>> all;
  for (const Dispatcher dispatcher : dispatchers) {
    for (const bool overlap : overlaps) all.emplace_back(dispatcher, overlap);
  }
  return all;
}

}  // namespace nest::solve
