// All that one search is asked, and whom: further searches (why not otherwise, what would fit) change a
// question and ask it again.
#pragma once

#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/question/search_options.hpp"
#include "nest/question/search_space.hpp"

namespace nest::question {

struct PlanQuestion {
  PlanInputs inputs;
  Training training;
  SearchSpace space;
  SearchOptions options;
};

}  // namespace nest::question
