#include "nest/solve/twin/brute_force.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "nest/plan/test_example.hpp"
#include "nest/solve/ask/test_prove.hpp"
#include "nest/solve/twin/test_plain_space.hpp"
#include "support/stride.hpp"

namespace nest::solve {
namespace {

const Training& kTraining = test::kExampleTraining;
using test::plain_space;

std::int64_t count(const SearchSpace& space) {
  return count_plans(test::example_inputs(), kTraining, space, 1'000'000);
}

// One stage: 1, 2 or 4 copies. 2: ranges of 1 or 2 devices for a copy each, or both in one range. 4: all four
// devices, by ranges of 1, 2 or 4. Two stages, cut in two places, in both directions: one copy, or two by
// ranges of 2 or 4. Three stages in both directions: 7 + 2 * 2 * 3 + 2.
TEST(BruteForce, CountsTheExampleByHand) {
  SearchSpace space = plain_space();
  EXPECT_EQ(count(space), 21);
  space.pipeline = Choice(1);
  EXPECT_EQ(count(space), 7);
  space.data = *read_choice("2..3");
  EXPECT_EQ(count(space), 3);
  space.block_devices = Choice(2);  // 0 and 2, or 0 and 1
  EXPECT_EQ(count(space), 2);
}

TEST(BruteForce, FindsTheBestOfTheExample) {
  const BruteForceResult all = brute_force(test::example_inputs(), kTraining, plain_space(), {}, 1000);
  EXPECT_TRUE(all.complete);
  EXPECT_EQ(all.plans, 21);
  ASSERT_TRUE(all.best);
  EXPECT_NEAR(all.step->value, 54.002e-3, 1e-12);  // two devices stay idle
  EXPECT_EQ(all.best->parallelism.devices(), 2);
  EXPECT_EQ(all.best->predicted->step, *all.step);
  EXPECT_EQ(all.best->stages[0].memory->total(), Bytes{1'500'000'000});
}

// One stage: none, full, full on 1 or 2 of its 3 layers, at 7 places. Two stages of 1 and 2 layers: 2 * 3 at
// 2 * 6. Three of 1: 8 at 2.
TEST(BruteForce, CountsRecomputation) {
  SearchSpace space = plain_space();
  space.recompute.clear();
  EXPECT_EQ(count(space), 7 * 4 + 12 * 6 + 2 * 8);
  space.same_recompute = true;
  EXPECT_EQ(count(space), 7 * 4 + 12 * 2 + 2 * 2);
  space.recompute = {{RecomputePolicy::full, 2}};
  EXPECT_EQ(count(space), 7);
  space.same_recompute = false;
  EXPECT_EQ(count(space), 7);
}

// One copy has nothing to shard. Two: ZeRO 0 to 3 at 3 places. Four at 3 places: each of ZeRO 1 to 3 over all
// ranks or the two of a node.
TEST(BruteForce, CountsZero) {
  SearchSpace space = plain_space();
  space.zero = {};
  space.pipeline = Choice(1);
  EXPECT_EQ(count(space), 1 + 3 * 4 + 3 * 7);
  space.zero_shards = Choice(2);
  EXPECT_EQ(count(space), 1 + 3 * 4 + 3 * 4);
  space.zero = Choice(3);
  EXPECT_EQ(count(space), 3 + 3);
}

TEST(BruteForce, StopsAtTheLimit) {
  const PlanInputs inputs = test::example_inputs();
  EXPECT_EQ(count_plans(inputs, kTraining, plain_space(), 21), 21);
  EXPECT_EQ(count_plans(inputs, kTraining, plain_space(), 20), 21);
  const BruteForceResult some = brute_force(inputs, kTraining, plain_space(), {}, 20);
  EXPECT_FALSE(some.complete);
  EXPECT_EQ(some.plans, 20);
}

TEST(BruteForce, FewestDevicesForATarget) {
  SearchOptions options;
  options.objective = Objective::devices;
  const auto best = [&](double tokens_per_s) {
    options.target_tokens_per_s = tokens_per_s;
    return brute_force(test::example_inputs(), kTraining, plain_space(), options, 1000).best;
  };
  // One device: 8 micro-batches of 12 ms. Two: 54.002 ms.
  EXPECT_EQ(best(8 * 512 / 0.0961)->parallelism.devices(), 1);
  EXPECT_EQ(best(8 * 512 / 0.0959)->parallelism.devices(), 2);
  EXPECT_NEAR(best(8 * 512 / 0.0959)->predicted->step.value, 54.002e-3, 1e-12);
  EXPECT_FALSE(best(8 * 512 / 0.0539));
}

TEST(BruteForce, NoMemoryNoPlan) {
  PlanInputs inputs = test::example_inputs();
  ClusterParts parts = inputs.cluster.parts();
  parts.accelerator.memory = Bytes{100'000'000};
  inputs.cluster = Cluster(parts);
  const BruteForceResult none = brute_force(inputs, kTraining, plain_space(), {}, 1000);
  EXPECT_EQ(none.plans, 21);
  EXPECT_FALSE(none.best);
}

// Two strategies of cells of two devices: each of the two stages has either, at two cuts.
TEST(BruteForce, MixedStrategies) {
  PlanInputs inputs = test::example_inputs();
  LayerProfile profile = *inputs.profile();
  profile.strategies.push_back(profile.strategies[0]);
  profile.strategies[0].tensor = 2;
  profile.strategies[1].context = 2;
  inputs.source = profile;
  SearchSpace space = plain_space();
  space.pipeline = Choice(2);
  space.first_stage_first = {false};
  EXPECT_EQ(count_plans(inputs, kTraining, space, 100), 2 * 2);
  space.mixed = true;
  EXPECT_EQ(count_plans(inputs, kTraining, space, 100), 2 * 4);
}

TEST(BruteForce, FrameworksRulesLeavePlansOut) {
  SearchSpace space = plain_space();
  space.zero = {};
  space.pipeline = *read_choice("1,2");
  space.rules = find_framework_rules("deepspeed");
  ASSERT_NE(space.rules, nullptr);
  std::int64_t plans = 0;
  EXPECT_TRUE(for_each_plan(test::example_inputs(), kTraining, space, [&](const Plan& plan) {
    ++plans;
    return plan.parallelism.pipeline == 1 || !plan.parallelism.zero.shards_gradients();
  }));
  // One stage: as CountsZero, but shards over a part only with ZeRO 3. Two stages: 4 places with one copy, 8
  // with two and ZeRO 0 or 1.
  EXPECT_EQ(plans, 1 + 3 * 4 + 3 * 5 + 4 + 8 * 2);
}

TEST(BruteForce, NoPlanTwiceInRandomSpaces) {
  for (unsigned seed = 1; seed <= 100; seed += test::stride()) {
    const test::Instance instance = test::random_instance(seed, 500);
    std::set<std::string> seen;
    for_each_plan(instance.inputs, instance.training, instance.space, [&](const Plan& plan) {
      std::string text = to_json_line(plan_value(plan, instance.inputs));
      text.resize(text.find("\"predicted\"") == std::string::npos ? text.size() : text.find("\"predicted\""));
      EXPECT_TRUE(seen.insert(text).second) << instance.text << test::in_words(plan);
      return !HasFailure();
    });
    ASSERT_FALSE(HasFailure());
  }
}

// The best plan stays what it is through its file, and where its devices are left out.
TEST(BruteForce, BestPlansArePlans) {
  for (unsigned seed = 1; seed <= 300; seed += test::stride()) {
    const std::int64_t most = test::usual_most_plans(seed);
    const test::Instance instance = test::random_instance(seed, most);
    const BruteForceResult all =
        brute_force(instance.inputs, instance.training, instance.space, instance.options, most);
    EXPECT_TRUE(all.complete) << instance.text;
    ASSERT_EQ(all.best ? test::problem_of(*all.best, instance) : "", "") << instance.text;
  }
}

}  // namespace
}  // namespace nest::solve
