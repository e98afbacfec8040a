#include "nest/solve/ask/sizing.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"
#include "nest/cluster/resize.hpp"
#include "nest/plan/test_example.hpp"
#include "nest/solve/ask/search.hpp"

namespace nest::solve {
namespace {

PlanQuestion question(std::int64_t devices) {
  Warnings warnings;
  PlanInputs inputs = load_inputs("llama3.2-1b", "h100-spine-leaf", "megatron", warnings);
  inputs.cluster = with_devices(inputs.cluster, devices);
  PlanQuestion q{std::move(inputs), {.global_batch = 256, .sequence = 4096}, {}, {}};
  q.options.threads = 1;
  return q;
}

constexpr double kTokens = 1e12;

TEST(Sizing, FindsTheFewestDevicesAndWhatOthersWouldTake) {
  const Sizing sized = size_cluster(question(64), {.tokens = kTokens, .days = 30});
  ASSERT_TRUE(sized.answer) << sized.reason;
  EXPECT_EQ(sized.status, PlanStatus::optimal);
  EXPECT_LE(sized.answer->cost.days, 30);
  EXPECT_GE(sized.answer->reach, 1);
  EXPECT_NEAR(sized.target_tokens_per_s, kTokens / (30 * 86'400.0), 1e-6);
  EXPECT_GE(sized.answer->rented, sized.answer->devices);
  EXPECT_EQ(sized.answer->rented % 8, 0);
  // One device fewer is too slow: no plan of the search with fewer reaches the target.
  PlanQuestion fewer = question(64);
  fewer.options.objective = Objective::devices;
  fewer.options.target_tokens_per_s = sized.target_tokens_per_s;
  EXPECT_EQ(ask(fewer).plans.front().parallelism.devices(), sized.answer->devices);
  std::int64_t before = 0;
  for (const SizedPlan& other : sized.others) {
    EXPECT_GT(other.rented, before);
    before = other.rented;
    EXPECT_EQ(other.cost.days > sized.answer->cost.days, other.rented < sized.answer->rented) << other.rented;
  }
  EXPECT_GE(sized.others.size(), 2U);
  EXPECT_EQ(sized.fewest, sized.answer->devices);
}

// 24 devices are needed for what 16 train on in a day and a half: two nodes and one fall short, and no number of whole
// nodes in between does better.
TEST(Sizing, NearMissesAreFewerWholeNodes) {
  PlanQuestion two = question(16);
  const double rate = ask(two).plans.front().predicted->tokens_per_s;
  const SizingTask task{.tokens = rate * 86'400 * 30, .days = 27};
  const Sizing sized = size_cluster(question(64), task);
  ASSERT_TRUE(sized.answer) << sized.reason;
  EXPECT_EQ(sized.answer->rented, 24);
  ASSERT_FALSE(sized.near_misses.empty());
  std::int64_t before = 0;
  for (const SizedPlan& near : sized.near_misses) {
    EXPECT_GT(near.rented, before);
    EXPECT_EQ(near.rented % 8, 0);
    EXPECT_LT(near.rented, sized.answer->rented);
    EXPECT_LT(near.reach, 1);
    before = near.rented;
    PlanQuestion same = question(64);
    same.inputs.cluster = with_devices(same.inputs.cluster, near.rented);
    EXPECT_NEAR(ask(same).plans.front().predicted->tokens_per_s, near.plan.predicted->tokens_per_s,
                1e-6 * rate)
        << near.rented;
  }
  EXPECT_EQ(sized.near_misses.back().rented, 16);
  EXPECT_NEAR(sized.near_misses.back().reach, 0.9, 1e-6);
}

// One device would do, but nodes are rented whole: the plan uses all of one, and no part of a node stands beside it.
TEST(Sizing, PartsOfNodesAreNotRented) {
  const Sizing sized = size_cluster(question(64), {.tokens = 1e9, .days = 20});
  ASSERT_TRUE(sized.answer) << sized.reason;
  EXPECT_EQ(sized.fewest, 1);
  EXPECT_EQ(sized.answer->rented, 8);
  EXPECT_TRUE(sized.near_misses.empty());
  for (const SizedPlan& other : sized.others) EXPECT_GT(other.rented, 8);
}

// Where nothing reaches the target, what comes nearest is told: a pod cannot grow.
TEST(Sizing, WhatComesNearest) {
  Warnings warnings;
  PlanQuestion q{load_inputs("llama3.2-1b", "tpu-v5e-256", "maxtext", warnings),
                 {.global_batch = 256, .sequence = 4096},
                 {},
                 {}};
  q.options.threads = 1;
  const double rate = ask(q).plans.front().predicted->tokens_per_s;
  const Sizing sized = size_cluster(q, {.tokens = rate * 86'400 * 10, .days = 9.8});
  EXPECT_FALSE(sized.answer);
  EXPECT_EQ(sized.status, PlanStatus::infeasible);
  ASSERT_EQ(sized.near_misses.size(), 1U);
  EXPECT_EQ(sized.near_misses.front().rented, 256);
  EXPECT_NEAR(sized.near_misses.front().reach, 0.98, 1e-6);
}

// A plan must make up for the time that failures of its own devices take: the fewest that do.
TEST(Sizing, FailuresTakeMoreDevices) {
  PlanQuestion q = question(64);
  const Sizing first = size_cluster(q, {.tokens = kTokens, .days = 6});
  ASSERT_TRUE(first.answer);
  const SizingTask task{.tokens = kTokens, .days = first.answer->cost.days * 1.001};  // just so
  const Sizing sound = size_cluster(q, task);
  q.asked.run.mtbf = Amount{1000 * 3600.0, Amount::Of::device};
  q.asked.run.restart = Seconds{1800};
  const Sizing failing = size_cluster(q, task);
  ASSERT_TRUE(sound.answer && failing.answer);
  EXPECT_GT(failing.answer->rented, sound.answer->rented);
  EXPECT_LT(failing.answer->goodput.share, 0.97);
  EXPECT_GE(failing.answer->reach, 1 - 1e-9);
  EXPECT_LE(failing.answer->cost.days, task.days * (1 + 1e-9));
  // No number of devices below does: their fastest plans lose too much.
  const RunCosts costs(q.asked.run, q.inputs, q.training);
  for (std::int64_t rented = 8; rented < failing.answer->rented; rented += 8) {
    PlanQuestion fewer = question(64);
    try {
      fewer.inputs.cluster = with_devices(fewer.inputs.cluster, rented);
    } catch (const InputError&) {
      continue;
    }
    const double rate = ask(fewer).plans.front().predicted->tokens_per_s;
    EXPECT_LT(rate * costs.goodput(rented).share, failing.target_tokens_per_s) << rented;
  }
}

TEST(Sizing, FailuresThatLeaveNoTime) {
  PlanQuestion q = question(64);
  q.asked.run.mtbf = Amount{1, Amount::Of::device};
  const Sizing sized = size_cluster(q, {.tokens = kTokens, .days = 30});
  EXPECT_FALSE(sized.answer);
  EXPECT_FALSE(sized.reason.empty());
}

// Of a pod only the slice that the run needs is rented.
TEST(Sizing, SlicesOfAPod) {
  Warnings warnings;
  PlanQuestion q{load_inputs("llama3.2-1b", "tpu-v5e-256", "maxtext", warnings),
                 {.global_batch = 256, .sequence = 4096},
                 {},
                 {}};
  q.options.threads = 1;
  const Sizing sized = size_cluster(q, {.tokens = 1e11, .days = 30});
  ASSERT_TRUE(sized.answer) << sized.reason;
  EXPECT_LT(sized.answer->rented, 256);
  EXPECT_EQ(sized.answer->rented, sized.answer->inputs.cluster.devices());
  EXPECT_GE(sized.answer->reach, 1);
  // The next smaller slice is among the others, and too slow.
  for (const SizedPlan& other : sized.others) EXPECT_EQ(other.reach < 1, other.rented < sized.answer->rented);
}

TEST(Sizing, GrowsAClusterThatIsTooSmall) {
  std::vector<std::int64_t> asked;
  const Sizing sized = size_cluster(question(8), {.tokens = kTokens, .days = 10},
                                    [&](std::int64_t devices) { asked.push_back(devices); });
  ASSERT_TRUE(sized.answer) << sized.reason;
  EXPECT_GT(sized.answer->devices, 8);
  ASSERT_GE(asked.size(), 2U);
  EXPECT_EQ(asked[0], 8);
  EXPECT_EQ(asked[1], 16);
}

TEST(Sizing, LessUptimeTakesMoreDevices) {
  const Sizing all = size_cluster(question(64), {.tokens = kTokens, .days = 30});
  const Sizing half = size_cluster(question(64), {.tokens = kTokens, .days = 30, .uptime = 0.5});
  ASSERT_TRUE(all.answer && half.answer);
  EXPECT_GT(half.answer->devices, all.answer->devices);
}

TEST(Sizing, SaysThatNothingIsEnough) {
  PlanQuestion q = question(64);
  q.space.data = Choice(1);
  q.space.pipeline = Choice(1);
  const Sizing sized = size_cluster(q, {.tokens = 1e18, .days = 1});
  EXPECT_FALSE(sized.answer);
  EXPECT_EQ(sized.status, PlanStatus::infeasible);
  EXPECT_FALSE(sized.reason.empty());
}

TEST(Sizing, WhatIsCancelledIsLeftOut) {
  const PlanQuestion q = question(64);
  int asked = 0;
  const Sizing sized = size_cluster(q, {.tokens = kTokens, .days = 30}, [&](std::int64_t) {
    if (++asked == 2) q.options.deadline.cancel();
  });
  EXPECT_EQ(asked, 2);
  ASSERT_TRUE(sized.answer);
  EXPECT_TRUE(sized.others.empty());
  EXPECT_TRUE(sized.stopped);
}

}  // namespace
}  // namespace nest::solve
