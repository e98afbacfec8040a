// Samples for the tests of fillers: random instances, each with one of its plans, which says which configuration
// to fill. What a test wants of them is its own.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "nest/solve/ask/test_prove.hpp"
#include "nest/solve/tree/test_fill.hpp"
#include "support/stride.hpp"

namespace nest::test {

struct Sample {
  Instance instance;
  std::optional<Plan> plan;  // none: the instance has no such plan, and is passed over
};

// A random instance with one recomputation per stage and one strategy for all, in every second no recomputation
// of parts, and a plan without chunks that `wanted` likes.
template <class Wanted>
[[nodiscard]] Sample plain_sample(unsigned seed, Wanted wanted) {
  Sample sample{random_instance(seed, 2000), std::nullopt};
  SearchSpace& space = sample.instance.space;
  space.mixed = space.same_recompute = false;
  space.rules = nullptr;
  Dice dice(seed);
  if (dice.once_in(2)) space.recompute = {{RecomputePolicy::none, 0}, {RecomputePolicy::full, 0}};
  sample.plan = some_plan(dice, sample.instance,
                          [&](const Plan& plan) { return plan.parallelism.interleave == 1 && wanted(plan); });
  return sample;
}

// Calls `look` with the cases of `count` samples with a plan. `sample_of` makes them of seeds from `first` on; at
// least one of `rarity` should have a plan.
template <class Make, class Look>
void for_samples(unsigned first, unsigned count, unsigned rarity, Make sample_of, Look look) {
  unsigned looked_at = 0;
  for (unsigned seed = first; looked_at < test::fewer(count); ++seed) {
    ASSERT_LT(seed, first + rarity * count) << "hardly any sample has a plan";
    const Sample sample = sample_of(seed);
    if (!sample.plan) continue;
    ++looked_at;
    FillCase c(sample.instance, *sample.plan);
    look(c);
    ASSERT_FALSE(testing::Test::HasFailure()) << sample.instance.text << in_words(*sample.plan);
  }
}

}  // namespace nest::test
