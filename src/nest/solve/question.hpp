// All that one search is asked, and whom: further searches (why not otherwise, what would fit) change a
// question and ask it again.
#pragma once

#include <functional>

#include "nest/solve/search.hpp"

namespace nest {

struct PlanQuestion {
  PlanInputs inputs;
  Training training;
  SearchSpace space;
  SearchOptions options;
};

using SearchFunction = std::function<SearchResult(const PlanQuestion&)>;

[[nodiscard]] inline SearchResult ask(const PlanQuestion& question) {
  return search(question.inputs, question.training, question.space, question.options);
}

}  // namespace nest
