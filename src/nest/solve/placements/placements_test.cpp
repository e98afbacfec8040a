#include "nest/solve/placements/placements.hpp"

#include <gtest/gtest.h>

#include <set>

#include "nest/plan/test_example.hpp"
#include "nest/solve/ask/test_prove.hpp"
#include "nest/solve/tree/test_fill.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

// Four devices in two nodes of two, one strategy of one device.
struct Example {
  explicit Example(SearchSpace wanted = {}, bool merge = false)
      : space(std::move(wanted)), placements(inputs.cluster, constants, strategies, space, merge) {}

  [[nodiscard]] std::size_t count(std::int64_t pipeline, std::int64_t copies,
                                  ShardKind shards = ShardKind::any) {
    return placements.of({0, pipeline, copies, shards, false, 0, 0})->size();
  }

  PlanInputs inputs = test::example_inputs();
  FabricConstants constants = inputs.constants();
  std::vector<Strategy> strategies{{}};
  SearchSpace space;
  Placements placements;
};

bool same(const ParameterGroup& a, const ParameterGroup& b) {
  return a.members == b.members && a.shards == b.shards && a.whole == b.whole && a.inner == b.inner &&
         a.outer == b.outer;
}

// As the exhaustive twin counts them (brute_force_test.cpp).
TEST(Placements, OfTheExample) {
  Example e;
  EXPECT_EQ(e.count(1, 1), 1U);
  EXPECT_EQ(e.count(1, 2), 3U) << "ranges of 1 or 2 devices for a copy each, or both in one range";
  EXPECT_EQ(e.count(1, 4), 3U) << "1, 2 or 4 copies side by side";
  EXPECT_EQ(e.count(2, 1), 2U) << "both directions";
  EXPECT_EQ(e.count(2, 2), 2U * 2);
  EXPECT_EQ(e.count(4, 1), 2U);
  EXPECT_EQ(e.count(2, 4), 0U) << "eight devices";
}

// Two copies on devices 0 and 1, by ranges of one or side by side, or on 0 and 2; four are always the same
// four.
TEST(Placements, ThoseThatLookAlikeAreOne) {
  Example e({}, true);
  EXPECT_EQ(e.count(1, 2), 2U);
  EXPECT_EQ(e.count(1, 4), 1U);
  // Across the nodes a stage of two copies looks the same whichever comes first.
  Example all;
  EXPECT_LT(e.count(2, 2), all.count(2, 2));
  EXPECT_GT(all.placements.networks(), 0);
}

TEST(Placements, PinnedChoices) {
  SearchSpace space;
  space.data_inner = Choice(2);
  EXPECT_EQ(Example(space).count(1, 2), 1U);
  EXPECT_EQ(Example(space).count(1, 1), 0U);
  space = {};
  space.block_devices = Choice(2);
  EXPECT_EQ(Example(space).count(1, 2), 2U) << "0 and 2, or 0 and 1";
  space = {};
  space.first_stage_first = {true};
  EXPECT_EQ(Example(space).count(2, 1), 1U);
  EXPECT_TRUE(Example(space).placements.of({0, 2, 1})->front().first_stage_first);
}

TEST(Placements, ShardsOfZero) {
  Example e;
  const auto shards = [](Example& of, std::int64_t copies, ShardKind kind) {
    std::set<std::int64_t> sizes;
    for (const Placement& p : *of.placements.of({0, 1, copies, kind, false, 0, 0}))
      sizes.insert(p.zero_shards);
    return sizes;
  };
  using Sizes = std::set<std::int64_t>;
  EXPECT_EQ(shards(e, 4, ShardKind::any), Sizes{0}) << "ZeRO 0";
  EXPECT_EQ(shards(e, 4, ShardKind::whole), Sizes{4});
  EXPECT_EQ(shards(e, 4, ShardKind::part), Sizes{2}) << "the ranks of a node";
  EXPECT_EQ(shards(e, 2, ShardKind::part), Sizes{});
  SearchSpace space;
  space.zero_shards = *read_choice("1..4");
  Example listed(space);
  EXPECT_EQ(shards(listed, 4, ShardKind::part), (Sizes{1, 2})) << "4 are the whole group";
}

TEST(Placements, AnswersAreMadeOnce) {
  Example e;
  const auto first = e.placements.of({0, 2, 2});
  const std::int64_t made = e.placements.networks();
  EXPECT_EQ(made, static_cast<std::int64_t>(first->size()));
  EXPECT_EQ(e.placements.of({0, 2, 2}), first);
  EXPECT_EQ(e.placements.networks(), made);
  EXPECT_NE(e.placements.of({0, 2, 2, ShardKind::whole}), first);
}

// What plan_network() says of the plan's cells, listed one by one.
TEST(Placements, NetworksAreThoseOfTheCells) {
  unsigned looked_at = 0;
  for (unsigned seed = 73'001; looked_at < test::fewer(150); ++seed) {
    test::Instance instance = test::random_instance(seed, 1000);
    instance.space.rules = nullptr;
    test::Dice dice(seed);
    const auto plan =
        test::some_plan(dice, instance, [](const Plan& p) { return p.parallelism.devices() > 1; });
    if (!plan) continue;
    ++looked_at;
    test::FillCase c(instance, *plan);
    const TieQuestion ties = c.problem.ties(c.configuration).back();
    const Placement placement = c.problem.placement(c.configuration, ties);
    const PlanNetwork cells = c.network(ties);
    const PlanNetwork& own = *placement.network;
    ASSERT_EQ(own.stages.size(), cells.stages.size());
    EXPECT_EQ(own.wrap, cells.wrap);
    EXPECT_EQ(own.tied, cells.tied);
    for (std::size_t i = 0; i < own.stages.size(); ++i) {
      EXPECT_EQ(own.stages[i].from_previous, cells.stages[i].from_previous);
      EXPECT_EQ(own.stages[i].from_next, cells.stages[i].from_next);
      EXPECT_TRUE(same(own.stages[i].dense, cells.stages[i].dense));
      EXPECT_TRUE(same(own.stages[i].expert, cells.stages[i].expert));
      EXPECT_TRUE(same_groups(*own.stages[i].cell, *cells.stages[i].cell));
    }
    ASSERT_FALSE(HasFailure()) << instance.text << test::in_words(*plan);
  }
}

// Every placement that was left out has one that looks the same in everything that costs.
TEST(Placements, WhatIsLeftOutHasATwin) {
  int left_out = 0;
  for (unsigned seed = 74'001; seed < 74'001 + 130; seed += test::stride()) {
    test::Instance instance = test::random_instance(seed, 300);
    test::Dice dice(seed);
    const auto plan =
        test::some_plan(dice, instance, [](const Plan& p) { return p.parallelism.copies() > 1; });
    if (!plan) continue;
    test::TestProblem problem(instance);
    const Degrees degrees = problem.degrees(problem.configuration(*plan));
    Placements merged(instance.inputs.cluster, problem.costs.constants(), problem.problem.strategies,
                      instance.space, true);
    const PlacementQuestion question{degrees.strategy, degrees.pipeline, degrees.copies, ShardKind::whole};
    const auto all = problem.placements->of(question);
    const auto few = merged.of(question);
    left_out += static_cast<int>(all->size() - few->size());
    for (const Placement& p : *all) {
      const bool known = std::any_of(few->begin(), few->end(), [&](const Placement& other) {
        for (std::size_t i = 0; i < p.network->stages.size(); ++i) {
          const StageNetwork& a = p.network->stages[i];
          const StageNetwork& b = other.network->stages[i];
          if (!(a.from_previous == b.from_previous) || !(a.from_next == b.from_next) ||
              !(a.dense == b.dense) || !(a.expert == b.expert) || !same_groups(*a.cell, *b.cell))
            return false;
        }
        return p.zero_shards == other.zero_shards;
      });
      ASSERT_TRUE(known) << instance.text;
    }
  }
  EXPECT_GT(test::often(left_out), 50);
}

TEST(Placements, StopAtTheDeadline) {
  const Example e;
  const Deadline deadline;
  Placements placements(e.inputs.cluster, e.constants, e.strategies, e.space, false, deadline);
  const PlacementQuestion question{0, 2, 2, ShardKind::any, false, 0, 0};
  EXPECT_EQ(placements.of(question)->size(), 4U);
  deadline.cancel();
  EXPECT_EQ(placements.of(question)->size(), 4U) << "what is known stays known";
  EXPECT_THROW((void)placements.of({0, 4, 1, ShardKind::any, false, 0, 0}), Stopped);
}

}  // namespace
}  // namespace nest::solve
