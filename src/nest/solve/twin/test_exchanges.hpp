// For tests: how random instances exchange tokens with their experts, by dice of their own.
#pragma once

#include "nest/network/groups/test_random.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/question/search_space.hpp"

namespace nest::test {
using namespace solve;

inline void draw_exchanges(unsigned seed, PlanInputs& inputs, SearchSpace& space) {
  Dice exchanges(seed + 1'000'003);
  if (exchanges.once_in(3))
    space.dispatchers = {Dispatcher::alltoall, Dispatcher::deepep, Dispatcher::hybridep};
  if (exchanges.once_in(3)) space.expert_overlap = {false, true};
  if (exchanges.once_in(4)) inputs.recipe.shared_overlap = true;
}

}  // namespace nest::test
