// For tests: the worked example's training, and the plans of its table and others like them.
#pragma once

#include "nest/plan/plan.hpp"
#include "nest/question/search_space.hpp"

namespace nest::test {
using namespace solve;

inline const Training kExampleTraining{.global_batch = 8, .sequence = 512, .optimizer = Optimizer::sgd};

// ZeRO 0, no recomputation, 1F1B: what is left are stages, copies and places.
[[nodiscard]] inline SearchSpace plain_space() {
  SearchSpace space;
  space.recompute = {{RecomputePolicy::none, 0}};
  space.zero = Choice(0);
  space.schedules = {Schedule::one_f_one_b};
  return space;
}

}  // namespace nest::test
