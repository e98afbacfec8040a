#include "nest/solve/baselines/flat.hpp"

#include <gtest/gtest.h>

#include "nest/solve/baselines/common/test_never_better.hpp"
#include "nest/solve/baselines/common/test_questions.hpp"

namespace nest::solve {
namespace {

TEST(Flat, HasOneLevelAsFastAsTheInnermost) {
  const Cluster cluster = test::node_cluster({.nodes = 3, .node = 4, .spine = 1e9});
  const Cluster flat = flat_cluster(cluster);
  ASSERT_EQ(flat.levels().size(), 1U);
  EXPECT_EQ(flat.devices(), 12);
  EXPECT_EQ(flat.levels()[0].kind, LevelKind::switched);
  EXPECT_EQ(flat.levels()[0].bandwidth, cluster.levels()[0].bandwidth);
  EXPECT_EQ(flat.levels()[0].latency, cluster.levels()[0].latency);
  EXPECT_EQ(flat.levels()[0].oversubscription, 1);
  EXPECT_EQ(flat_cluster(cluster, BytesPerSecond{5e9}).levels()[0].bandwidth, BytesPerSecond{5e9});
}

// 800 MB of gradients: 5 ms where all links are fast. Over a spine of 200 MB/s, a quarter of them (the node
// has reduced the rest) takes a second. A pipeline sends 100 kB a micro-batch over it.
TEST(Flat, ReducesGradientsOverSlowLinksWhereTheSearchDoesNot) {
  const PlanQuestion question = test::chain_question({.cluster = {.spine = 2e8}});
  const BaselineResult flat = find_flat(question, {});
  const SearchResult ours = ask(question);
  ASSERT_EQ(flat.status, PlanStatus::feasible) << flat.reason;
  ASSERT_EQ(ours.status, PlanStatus::optimal);
  EXPECT_EQ(flat.plan->parallelism.copies(), 8);
  EXPECT_LT(ours.plans.front().parallelism.copies(), 8);
  const Seconds step = flat.plan->predicted->step;
  EXPECT_GT(step.value, 5 * ours.plans.front().predicted->step.value);
  EXPECT_LT(5 * flat.believed->value, step.value);
  EXPECT_GT(flat.evaluations, 0);
  EXPECT_GT(flat.search_time, Seconds{0});
}

TEST(Flat, SeesTheSlowLinksWhenTold) {
  const PlanQuestion question = test::chain_question({.cluster = {.spine = 2e8}});
  BaselineOptions options;
  options.flat_bandwidth = BytesPerSecond{2e8};
  const BaselineResult flat = find_flat(question, options);
  ASSERT_EQ(flat.status, PlanStatus::feasible);
  EXPECT_LT(flat.plan->parallelism.copies(), 8);
}

TEST(Flat, IsTheSearchWhereThereIsOneLevel) {
  PlanQuestion question = test::chain_question({});
  question.inputs.cluster = flat_cluster(question.inputs.cluster);
  const BaselineResult flat = find_flat(question, {});
  const SearchResult ours = ask(question);
  ASSERT_EQ(flat.status, PlanStatus::feasible);
  EXPECT_EQ(flat.plan->predicted->step, ours.plans.front().predicted->step);
  EXPECT_EQ(flat.plan->predicted->step, *flat.believed);
}

// One switch with 8 devices would allow tensor 8.
TEST(Flat, KeepsTensorDegreesOfTheRealCluster) {
  PlanQuestion question = test::config_question(test::llama_config(16, 16), {.nodes = 4, .node = 2}, 1);
  const BaselineResult flat = find_flat(question, {});
  ASSERT_EQ(flat.status, PlanStatus::feasible) << flat.reason;
  EXPECT_LE(flat.plan->parallelism.strategy.tensor, 2);
  question.space.tensor = Choice(4);
  const BaselineResult pinned = find_flat(question, {});
  ASSERT_EQ(pinned.status, PlanStatus::feasible) << pinned.reason;
  EXPECT_EQ(pinned.plan->parallelism.strategy.tensor, 4);
}

TEST(Flat, IsNeverBetterThanTheSearch) {
  test::never_better(find_flat, 1, 200);
}

}  // namespace
}  // namespace nest::solve
