// Dtypes of gradients, reductions and optimizer as choices of a search. A question of which several combinations may
// be taken is as many questions of one (solve/ask/state_search.hpp).
//
//   state_values(question)   -> what the recipe has first, then those with the fewest bytes for each parameter
#pragma once

#include <vector>

#include "nest/plan/plan.hpp"
#include "nest/question/question.hpp"

namespace nest::question {

// All combinations of the space's lists that the framework can run; where the space lists nothing, what `training`
// has. The first is that of the lists' first values, or the recipe's where it is among them: it wins ties.
[[nodiscard]] std::vector<States> state_values(const PlanInputs& inputs, const Training& training,
                                               const SearchSpace& space);

// Lists of just these values, where they are said.
void put_states(const States& states, SearchSpace& space);

// A question of one combination, and of one batch: what further searches ask beside a plan that was found.
[[nodiscard]] PlanQuestion with_only(PlanQuestion question, const States& states);
[[nodiscard]] PlanQuestion settled(PlanQuestion question, const Plan& taken);

}  // namespace nest::question
