#include "nest/solve/ask/sizing.hpp"

#include <gtest/gtest.h>

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
  EXPECT_LE(sized.answer->days, 30);
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
    EXPECT_EQ(other.days > sized.answer->days, other.rented < sized.answer->rented) << other.rented;
  }
  EXPECT_GE(sized.others.size(), 2U);
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
