// The search for the plan of lowest price in a space of plans, with a proof: no plan of the space is below
// the lower bound that comes with it.
//
//   SearchOptions options;
//   const SearchResult found = search(inputs, {.global_batch = 1024, .sequence = 8192}, space, options);
//   found.status == PlanStatus::optimal, found.plans.front().predicted->step
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nest/plan/inputs.hpp"
#include "nest/plan/plan.hpp"
#include "nest/question/prunings.hpp"
#include "nest/question/question.hpp"
#include "nest/question/search_space.hpp"
#include "nest/solve/search_result.hpp"

namespace nest::solve {

// `training`: global batch, sequence, precision and optimizer; micro-batches are searched. Throws an
// InputError where the model cannot be built so.
[[nodiscard]] SearchResult search(const PlanInputs& inputs, const Training& training,
                                  const SearchSpace& space, const SearchOptions& options = {});

using SearchFunction = std::function<SearchResult(const PlanQuestion&)>;

[[nodiscard]] inline SearchResult ask(const PlanQuestion& question) {
  return search(question.inputs, question.training, question.space, question.options);
}

}  // namespace nest::solve
