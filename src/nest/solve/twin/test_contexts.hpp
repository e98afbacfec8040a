// Hybrid context parallelism in spaces of random instances, by dice of its own: all other draws stay as they are.
#pragma once

#include <algorithm>
#include <vector>

#include "nest/question/choice.hpp"
#include "nest/question/choice_values.hpp"
#include "nest/question/search_space.hpp"
#include "nest/solve/twin/test_inputs.hpp"

namespace nest::test {

// Over four or more ranks, beside other ways or alone; layer profiles keep the degrees that they have.
// `always`: whatever the dice say.
inline void draw_hybrid(unsigned seed, const PlanInputs& inputs, SearchSpace& space, bool always) {
  Dice dice(seed + 5'000'011);
  const bool drawn = inputs.profile() != nullptr ? dice.once_in(12) : dice.once_in(3);
  if (!drawn && !always) return;
  space.context_methods = {ContextMethod::hybrid};
  if (dice.once_in(2)) space.context_methods.insert(space.context_methods.begin(), ContextMethod::ring);
  if (dice.once_in(2)) space.context_methods.push_back(ContextMethod::all_to_all);
  if (inputs.profile() == nullptr)
    space.context = *question::read_choice(dice.one_of<const char*>({"4", "4", "1,4", "2,4,8", "6", "8"}));
  if (dice.once_in(3))
    space.context_inner = *question::read_choice(dice.one_of<const char*>({"2", "2..4", "4", "3"}));
}

// Whether a space has plans with hybrid context parallelism.
[[nodiscard]] inline bool has_hybrid(const PlanInputs& inputs, const Training& training,
                                     const SearchSpace& space) {
  const std::vector<Strategy> all = question::strategy_values(inputs, training, space);
  return std::any_of(all.begin(), all.end(), [](const Strategy& s) { return s.hybrid(); });
}

}  // namespace nest::test
