// Hybrid context parallelism in spaces of random instances, by dice of its own: all other draws stay as they are.
#pragma once

#include "nest/question/choice.hpp"
#include "nest/solve/twin/test_inputs.hpp"

namespace nest::test {

// Over four or more ranks, beside other ways or alone; layer profiles keep the degrees that they have.
inline void draw_hybrid(unsigned seed, const PlanInputs& inputs, SearchSpace& space) {
  Dice dice(seed + 5'000'011);
  if (inputs.profile() != nullptr ? !dice.once_in(12) : !dice.once_in(3)) return;
  space.context_methods = {ContextMethod::hybrid};
  if (dice.once_in(2)) space.context_methods.insert(space.context_methods.begin(), ContextMethod::ring);
  if (dice.once_in(2)) space.context_methods.push_back(ContextMethod::all_to_all);
  if (inputs.profile() == nullptr)
    space.context = *question::read_choice(dice.one_of<const char*>({"4", "4", "1,4", "2,4,8", "6", "8"}));
  if (dice.once_in(3))
    space.context_inner = *question::read_choice(dice.one_of<const char*>({"2", "2..4", "4", "3"}));
}

}  // namespace nest::test
