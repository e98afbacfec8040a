// Searches a space of plans for the one with the lowest price. The result has a lower bound as its proof:
// no plan of the space is faster.
//
//   Asked asked;
//   asked.devices = 64;
//   asked.choices.tensor = Choice(8);
//   const SearchResult found = search(inputs, asked);
//   found.status == PlanStatus::optimal, found.plans.front().predicted->step
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nest/base/document/value.hpp"
#include "nest/base/units.hpp"
#include "nest/plan/plan.hpp"
#include "nest/question/prunings.hpp"
#include "nest/question/question.hpp"
#include "nest/solve/search_result.hpp"

namespace nest::solve {

// The answer to a question as make_question makes it. Every plan of the answer was checked and priced apart
// from the search; where that fails the status is `disagreement`. Throws an InputError where a question that
// was put together by hand cannot be asked.
[[nodiscard]] SearchResult ask(const PlanQuestion& question);

// The same from what is asked, with all defaults and checks of make_question.
[[nodiscard]] SearchResult search(const PlanInputs& inputs, const Asked& asked = {});

// A gap so wide that the first plan ends the search.
inline constexpr double kAnyPlan = 1e9;

// Whom further searches ask (why not otherwise, what would fit).
using SearchFunction = std::function<SearchResult(const PlanQuestion&)>;

}  // namespace nest::solve
