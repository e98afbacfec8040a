#include "nest/solve/ask/shadow_prices.hpp"

#include <gtest/gtest.h>

#include "nest/question/make_question.hpp"

namespace nest::solve {
namespace {

PlanQuestion llama(const Asked& asked = {}) {
  Warnings warnings;
  Asked own = asked;
  own.devices = 16;
  own.global_batch = 64;
  own.threads = 1;
  return make_question(load_inputs("llama3.1-8b", "h100-spine-leaf", "megatron", warnings), own);
}

SearchResult found_with(double step, PlanStatus status = PlanStatus::optimal) {
  SearchResult found;
  found.status = status;
  Plan plan;
  plan.predicted.emplace().step = Seconds{step};
  found.plans.push_back(std::move(plan));
  return found;
}

// Every row is a search of its own: the same as somebody would get who changes the cluster file.
TEST(ShadowPrices, AreWhatASearchFindsWithTheChange) {
  const PlanQuestion question = llama();
  const ShadowPrices prices = shadow_prices(question, {.limit = Seconds{1e6}});
  EXPECT_FALSE(prices.stopped);
  ASSERT_EQ(prices.rows.size(), 5U);  // node, rack, spine; memory; devices
  EXPECT_EQ(prices.rows[0].change, "25 % more bandwidth at level 'node'");
  EXPECT_EQ(prices.rows[0].level, "node");
  EXPECT_EQ(prices.rows[3].change, "8 GiB more memory");
  EXPECT_EQ(prices.rows[4].change, "8 more devices (one node)");
  const double before = prices.unchanged.plans.front().predicted->step.value;
  for (const ShadowPrice& row : prices.rows) {
    EXPECT_EQ(row.status, PlanStatus::optimal) << row.change;
    EXPECT_LE(row.step.value, before) << row.change;
    EXPECT_NEAR(row.share, row.step.value / before - 1, 1e-8) << row.change;
  }
  PlanQuestion more = question;
  ClusterParts parts = question.inputs.cluster.parts();
  parts.accelerator.memory = parts.accelerator.memory + Bytes{std::int64_t{8} << 30};
  more.inputs.cluster = Cluster(std::move(parts));
  const SearchResult found = ask(more);
  EXPECT_NEAR(prices.rows[3].step.value, found.plans.front().predicted->step.value, 1e-9 * before);
}

TEST(ShadowPrices, MoreMemoryMakesAPlanFit) {
  PlanQuestion question = llama();
  ClusterParts parts = question.inputs.cluster.parts();
  parts.accelerator.memory = Bytes{std::int64_t{12} << 30};
  question.inputs.cluster = Cluster(std::move(parts));
  question.space.tensor = Choice(1);
  question.space.pipeline = Choice(1);
  const ShadowPrices prices = shadow_prices(question, {.limit = Seconds{1e6}});
  ASSERT_TRUE(prices.unchanged.plans.empty());
  EXPECT_EQ(prices.rows[0].status, PlanStatus::infeasible);
  EXPECT_FALSE(prices.rows[0].plan);
  EXPECT_EQ(prices.rows[3].kind, ShadowKind::memory);
  if (prices.rows[3].plan) {
    EXPECT_GT(prices.rows[3].step.value, 0);
  }
}

// A search that is stopped early may find less than was known before: more is never worse.
TEST(ShadowPrices, MoreIsNeverWorse) {
  int searches = 0;
  const ShadowPrices prices = shadow_prices(llama(), {}, [&](const PlanQuestion&) {
    return ++searches == 1 ? found_with(2) : found_with(3, PlanStatus::feasible);
  });
  EXPECT_TRUE(prices.stopped);
  for (const ShadowPrice& row : prices.rows) {
    EXPECT_EQ(row.step, Seconds{2}) << row.change;
    EXPECT_EQ(row.share, 0) << row.change;
    EXPECT_EQ(row.status, PlanStatus::feasible) << row.change;
  }
}

TEST(ShadowPrices, WhatIsNotSearchedIsSaid) {
  PlanQuestion question = llama();
  question.options.deadline.cancel();
  const ShadowPrices prices = shadow_prices(question);
  EXPECT_TRUE(prices.stopped);
  ASSERT_EQ(prices.rows.size(), 5U);
  for (const ShadowPrice& row : prices.rows) EXPECT_EQ(row.status, PlanStatus::limit) << row.change;
}

// What is asked of one plan alone: neither runners-up nor a gap nor the fewest devices.
TEST(ShadowPrices, AsksForTheFastestPlan) {
  Asked asked;
  asked.top = 5;
  asked.gap = 0.5;
  std::vector<std::string> told;
  ShadowOptions options;
  options.asking = [&](const std::string& what) { told.push_back(what); };
  (void)shadow_prices(llama(asked), options, [](const PlanQuestion& q) {
    EXPECT_EQ(q.options.top, 1);
    EXPECT_EQ(q.options.gap, 0);
    return found_with(1);
  });
  EXPECT_EQ(told.size(), 6U);
  EXPECT_EQ(told.front(), "the best plan as it is");
}

}  // namespace
}  // namespace nest::solve
