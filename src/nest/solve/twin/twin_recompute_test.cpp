#include "nest/solve/twin/twin_recompute.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "nest/question/recompute_choices.hpp"

namespace nest::solve {
namespace {

// What the search may choose for a stage, listed again: the same in another order.
TEST(TwinRecompute, IsWhatTheSearchMayChoose) {
  Warnings warnings;
  const PlanInputs inputs = load_inputs("llama3.2-1b", "h100-spine-leaf", "megatron", warnings);
  const Training training{.sequence = 4096};
  SearchSpace listed;
  listed.recompute = {{RecomputePolicy::full, 2}, {RecomputePolicy::modules, 0}, {RecomputePolicy::none, 0}};
  SearchSpace without;
  without.module_sets = false;
  for (const SearchSpace& space : {SearchSpace{}, listed, without}) {
    const TwinRecompute twin(inputs, training, space);
    const RecomputeChoices choices(space.recompute, points_of(inputs, training, space));
    for (const std::int64_t able : {1, 2, 5}) {
      const std::vector<Recompute> own = choices.of_stage(able);
      const std::vector<Recompute> found = twin.of_stage(able);
      EXPECT_EQ(found.size(), own.size()) << able;
      for (const Recompute& r : own) EXPECT_EQ(std::ranges::count(found, r), 1) << spell(r) << " " << able;
    }
  }
}

}  // namespace
}  // namespace nest::solve
