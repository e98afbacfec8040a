// What becomes of parameters that ZeRO 3 gathers, for random instances, of dice of their own.
#pragma once

#include <cstdint>
#include <vector>

#include "nest/network/groups/test_random.hpp"
#include "nest/plan/inputs.hpp"
#include "nest/question/search_space.hpp"

namespace nest::test {

// Every second time: one to three reshardings, mostly with ZeRO 3, and a recipe that gathers more or fewer layers ahead
// or reduces gradients after the last micro-batch.
inline void draw_resharding(unsigned seed, PlanInputs& inputs, SearchSpace& space) {
  using Kind = Resharding::Kind;
  Dice dice(seed + 7'000'013);
  if (dice.once_in(2)) return;
  std::vector<Resharding> from{{},
                               {Kind::never, 0},
                               {Kind::first, 1},
                               {Kind::first, dice.pick(2, 4)},
                               {Kind::group, 2},
                               {Kind::group, dice.one_of<std::int64_t>({3, 4})}};
  for (std::int64_t more = dice.pick(1, 3); more > 0; --more) {
    const auto at = from.begin() + dice.pick(0, static_cast<std::int64_t>(from.size()) - 1);
    space.reshardings.push_back(*at);
    from.erase(at);
  }
  if (!dice.once_in(3)) space.zero = dice.once_in(2) ? Choice(3) : Choice({{1, 1}, {3, 3}});
  if (dice.once_in(2)) inputs.recipe.overlap.prefetch = dice.once_in(2) ? 1 : 0.5;
  if (dice.once_in(3)) inputs.recipe.prefetch_layers = dice.pick(0, 3);
  inputs.recipe.late_reduces = dice.once_in(3);
}

}  // namespace nest::test
