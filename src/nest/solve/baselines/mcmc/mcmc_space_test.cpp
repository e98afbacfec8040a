#include "nest/solve/baselines/mcmc/mcmc_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "nest/plan/test_example.hpp"
#include "nest/solve/baselines/mcmc/mcmc_moves.hpp"
#include "nest/solve/twin/test_instances.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

PlanQuestion question_of(test::Instance instance) {
  return {std::move(instance.inputs), instance.training, instance.space, instance.options};
}

PlanQuestion example() {
  return {test::example_inputs(), {.global_batch = 8, .sequence = 512, .optimizer = Optimizer::sgd}, {}, {}};
}

// Every choice of a plan but its devices.
std::string key_of(const Plan& plan) {
  const Parallelism& p = plan.parallelism;
  std::string key = spell(p.strategy) + std::string(name_of(p.schedule));
  for (const std::int64_t n :
       {plan.training.micro_batch, plan.training.micro_batches, p.pipeline, p.data, p.data_inner,
        p.block_devices, p.zero.number(), p.zero_shards, p.interleave, std::int64_t{p.first_stage_first}})
    key += " " + std::to_string(n);
  for (const Stage& stage : plan.stages) {
    key += "; " + spell(stage.recompute);
    for (const LayerId id : stage.layers) key += " " + std::to_string(id.value);
  }
  return key;
}

// The plans of a space that a walk may come to: one recomputation, one strategy, one schedule.
std::set<std::string> walkable(const PlanQuestion& question, Schedule schedule) {
  std::set<std::string> keys;
  Pricer pricer(question.inputs);
  PricedPlan priced;
  for_each_plan(question.inputs, question.training, question.space, [&](const Plan& plan) {
    const bool alike = std::all_of(plan.stages.begin(), plan.stages.end(), [&](const Stage& s) {
      return s.recompute == plan.stages.front().recompute && s.strategy == plan.parallelism.strategy;
    });
    if (!alike || plan.parallelism.schedule != schedule) return true;
    pricer.price(plan, priced);
    if (priced.status != PriceStatus::invalid) keys.insert(key_of(plan));
    return true;
  });
  return keys;
}

std::set<std::string> walked(const PlanQuestion& question, int steps) {
  McmcSpace space(question);
  McmcMoves moves(space);
  SeededRandom random(5);
  std::set<std::string> keys;
  McmcState state;
  Plan plan;
  if (!space.starts([&](const McmcState& first) {
        state = first;
        return true;
      }))
    return keys;
  McmcState next;
  for (int i = 0; i < steps; ++i) {
    space.write(state, plan);
    keys.insert(key_of(plan));
    if (moves.propose(state, 0, random, next)) state = next;
  }
  return keys;
}

TEST(McmcSpace, StaysInsideTheSpace) {
  std::int64_t plans = 0;
  std::int64_t missed = 0;
  for (unsigned seed = 1; seed <= 100; seed += test::stride()) {
    const test::Instance instance = test::random_instance(seed, 300);
    const PlanQuestion question = question_of(instance);
    const auto schedule = McmcSpace(question).schedule();
    const std::set<std::string> seen = walked(question, 4'000);
    if (!schedule) {
      EXPECT_TRUE(seen.empty()) << instance.text;
      continue;
    }
    const std::set<std::string> all = walkable(question, *schedule);
    for (const std::string& key : seen) ASSERT_TRUE(all.contains(key)) << key << "\n" << instance.text;
    plans += static_cast<std::int64_t>(all.size());
    missed += static_cast<std::int64_t>(all.size() - seen.size());
    EXPECT_EQ(all.empty(), seen.empty()) << instance.text;
  }
  // So many steps come to most of them.
  EXPECT_GT(test::often(plans), 5'000);
  EXPECT_LT(missed, test::often(plans) / 4);
}

TEST(McmcSpace, ComesToEveryPlanOfTheExample) {
  PlanQuestion question = example();
  question.space.recompute = {{RecomputePolicy::none, 0}};
  EXPECT_EQ(walked(question, 60'000), walkable(question, Schedule::one_f_one_b));
}

TEST(McmcSpace, StartsFromDataParallelism) {
  const PlanQuestion question = example();
  McmcSpace space(question);
  McmcState state;
  EXPECT_TRUE(space.starts([&](const McmcState& first) {
    state = first;
    return true;
  }));
  EXPECT_EQ(state.pipeline, 1);
  EXPECT_EQ(state.copies, 4);
  EXPECT_EQ(state.zero.number(), 0);
  EXPECT_EQ(state.recompute, (Recompute{RecomputePolicy::none, 0}));
}

TEST(McmcSpace, TakesTheScheduleThatIsAskedFor) {
  PlanQuestion question = example();
  EXPECT_EQ(McmcSpace(question).schedule(), Schedule::one_f_one_b);
  question.space.schedules = {Schedule::interleaved, Schedule::zb_h1};
  EXPECT_EQ(McmcSpace(question).schedule(), Schedule::zb_h1);
  question.space.schedules = {Schedule::interleaved};
  EXPECT_FALSE(McmcSpace(question).schedule());
  question.space.schedules.clear();
  question.space.interleave = Choice(2);
  EXPECT_FALSE(McmcSpace(question).schedule());
}

TEST(McmcSpace, SettlesWhatNoLongerAgrees) {
  const PlanQuestion question = example();
  McmcSpace space(question);
  McmcState state;
  state.copies = state.inner = 4;
  state.cut = space.cuts().even(1);
  state.zero = 3;
  state.zero_shards = 4;
  McmcState next = state;
  next.pipeline = 2;
  ASSERT_TRUE(space.settle(next, state));
  EXPECT_EQ(next.copies, 2);
  EXPECT_EQ(next.inner, 2) << "all side by side, as before";
  EXPECT_EQ(next.zero.number(), 3);
  EXPECT_EQ(next.zero_shards, 2) << "over the whole group, as before";
  EXPECT_EQ(McmcCuts::stages(next.cut), 2);
  McmcState one = next;
  one.copies = 1;
  ASSERT_TRUE(space.settle(one, next));
  EXPECT_EQ(one.zero.number(), 0) << "one rank shards nothing";
}

}  // namespace
}  // namespace nest::solve
