#include "nest/price/network/plan_network.hpp"

#include <gtest/gtest.h>

#include "nest/cluster/catalog.hpp"
#include "nest/cluster/cluster_file.hpp"
#include "nest/network/cells/placement.hpp"

namespace nest::price {
namespace {

// Two nodes of four devices in a rack.
const Cluster& eight() {
  static const Cluster kCluster = read_cluster(parse_yaml("c", R"(
name: eight
accelerator: {name: x, memory: 80 GB, memory_bandwidth: 3 TB/s, peak: {bf16: 1000 TFLOP/s}}
levels:
  - {name: node, kind: switch, size: 4, bandwidth: 100 GB/s, latency: 1 us}
  - {name: rack, kind: switch, size: 2, bandwidth: 10 GB/s, latency: 5 us}
)"));
  return kCluster;
}

Cell cell(std::initializer_list<int> ids) {
  Cell out;
  for (const int id : ids) out.emplace_back(id);
  return out;
}

PlanNetwork network_of(const std::vector<Strategy>& strategies, const std::vector<std::vector<Cell>>& cells,
                       const NetworkOptions& options = {}) {
  return plan_network(eight(), ideal_constants(eight()), strategies, cells, options);
}

double seconds(CollectiveKind kind, std::int64_t bytes, const Shapes& shapes) {
  return slowest(kind, Bytes{bytes}, shapes, CollectiveModel(eight(), ideal_constants(eight()))).value;
}

TEST(PlanNetwork, TheSlowestPairOfTwoStagesCounts) {
  // Copy 0 sends inside a node, copy 1 across the rack: 1 GB takes 10 ms or 100 ms.
  const PlanNetwork n = network_of({{}, {}}, {{cell({1}), cell({2})}, {cell({0}), cell({4})}},
                                   {.zero_shards = 0, .wrap = true});
  EXPECT_EQ(n.stages[0].from_next.size(), 2U);
  EXPECT_EQ(n.stages[0].from_next, n.stages[1].from_previous);
  EXPECT_TRUE(n.stages[0].from_previous.empty());
  EXPECT_NEAR(seconds(CollectiveKind::send, 1'000'000'000, n.stages[1].from_previous), 0.100005, 1e-12);
  EXPECT_EQ(n.wrap, n.stages[0].from_next);  // with two stages the ends are neighbours
}

TEST(PlanNetwork, EndsOnlyWhereTheyTalk) {
  const std::vector<std::vector<Cell>> cells{{cell({2})}, {cell({1})}, {cell({4})}};
  EXPECT_TRUE(network_of({{}, {}, {}}, cells).wrap.empty());
  const PlanNetwork n = network_of({{}, {}, {}}, cells, {.zero_shards = 0, .wrap = true});
  EXPECT_NEAR(seconds(CollectiveKind::send, 1'000'000'000, n.wrap), 0.100005, 1e-12);
}

TEST(PlanNetwork, ParametersOfATensorGroupAreOneCellApart) {
  // Two copies of cells of four: four groups of two, each across the rack.
  const Strategy s{.tensor = 4};
  const PlanNetwork n = network_of({s}, {{cell({0, 1, 2, 3}), cell({4, 5, 6, 7})}});
  EXPECT_EQ(n.stages[0].dense.members, 2);
  EXPECT_EQ(n.stages[0].dense.shards, 2);
  ASSERT_EQ(n.stages[0].dense.whole.size(), 1U);
  EXPECT_EQ(n.stages[0].dense.whole[0].members(), 2);
  EXPECT_EQ(n.stages[0].dense.whole[0].levels()[0].level, LevelId{1});
  EXPECT_EQ(n.stages[0].dense.inner, n.stages[0].dense.whole);
  EXPECT_TRUE(n.stages[0].dense.outer.empty());
  EXPECT_EQ(n.stages[0].expert.members, 2);
}

TEST(PlanNetwork, ContextRanksHoldTheSameParameters) {
  const Strategy s{.tensor = 2, .context = 2};
  const PlanNetwork n = network_of({s}, {{cell({0, 1, 2, 3}), cell({4, 5, 6, 7})}});
  EXPECT_EQ(n.stages[0].dense.members, 4);
}

TEST(PlanNetwork, ExpertsHaveTheirOwnGroups) {
  // tensor 1, expert 4: cells of four run four micro-batches; dense parameters on all eight, experts on two.
  const Strategy s{.expert = 4};
  const PlanNetwork n = network_of({s}, {{cell({0, 1, 2, 3}), cell({4, 5, 6, 7})}});
  EXPECT_EQ(n.stages[0].dense.members, 8);
  EXPECT_EQ(n.stages[0].expert.members, 2);
  EXPECT_EQ(n.stages[0].expert.whole[0].levels()[0].level, LevelId{1});
}

TEST(PlanNetwork, ShardsAreTheInnermostRanks) {
  const PlanNetwork n = network_of({{}}, {{cell({0}), cell({1}), cell({4}), cell({5})}}, {.zero_shards = 2});
  const ParameterGroup& g = n.stages[0].dense;
  EXPECT_EQ(g.members, 4);
  EXPECT_EQ(g.shards, 2);
  EXPECT_EQ(g.inner[0].levels()[0].level, LevelId{0});
  EXPECT_EQ(g.outer[0].levels()[0].level, LevelId{1});
  EXPECT_EQ(g.outer[0].members(), 2);
  EXPECT_EQ(g.near, 0);
  EXPECT_TRUE(g.nearby.empty());
}

TEST(PlanNetwork, SomeOfTheShardsGatherAgain) {
  const PlanNetwork n = network_of({{}}, {{cell({0}), cell({1}), cell({4}), cell({5})}}, {.near = 2});
  const ParameterGroup& g = n.stages[0].dense;
  EXPECT_EQ(g.shards, 4);
  EXPECT_EQ(g.near, 2);
  EXPECT_EQ(g.nearby[0].members(), 2);
  EXPECT_EQ(g.nearby[0].levels()[0].level, LevelId{0});
}

// More shards than an expert group has ranks: all of them.
TEST(PlanNetwork, ShardsOfSmallGroups) {
  const Strategy s{.expert = 4};
  const PlanNetwork n = network_of({s}, {{cell({0, 1, 2, 3}), cell({4, 5, 6, 7})}}, {.zero_shards = 4});
  EXPECT_EQ(n.stages[0].dense.shards, 4);
  EXPECT_EQ(n.stages[0].expert.shards, 2);
}

TEST(PlanNetwork, OneDeviceTalksToNobody) {
  const PlanNetwork n = network_of({{}}, {{cell({3})}}, {.zero_shards = 0, .wrap = true});
  EXPECT_EQ(n.stages[0].dense.members, 1);
  EXPECT_TRUE(n.stages[0].dense.whole.empty());
  EXPECT_TRUE(n.wrap.empty());
  EXPECT_EQ(seconds(CollectiveKind::all_reduce, 1 << 30, n.stages[0].dense.whole), 0);
}

TEST(PlanNetwork, StagesThatTalkAlikeAreOfOneClass) {
  std::vector<std::vector<Cell>> cells;
  for (int i = 3; i >= 0; --i) cells.push_back({cell({i})});
  const PlanNetwork n = network_of(std::vector<Strategy>(4), cells);
  EXPECT_EQ(n.stage_class[1], n.stage_class[2]);
  EXPECT_NE(n.stage_class[0], n.stage_class[1]);  // nobody before it
  EXPECT_NE(n.stage_class[3], n.stage_class[2]);
}

TEST(PlanNetwork, ACellThatStraddlesIsSlowerThanItsSibling) {
  const Strategy s{.tensor = 3};
  const PlanNetwork n = network_of({s, s}, {{cell({0, 1, 2})}, {cell({3, 4, 5})}});
  EXPECT_NE(n.stages[0].cell_class, n.stages[1].cell_class);
  EXPECT_FALSE(same_groups(*n.stages[0].cell, *n.stages[1].cell));
  const CollectiveCall gather{
      .forward = CollectiveKind::all_gather, .group = GroupAxis::tensor, .forward_bytes = Bytes{300'000'000}};
  EXPECT_LT(n.stages[0].cell->time(gather, Direction::forward),
            n.stages[1].cell->time(gather, Direction::forward));
}

// Stages of different strategies share no cell network.
TEST(PlanNetwork, MixedStrategies) {
  const std::vector<Strategy> two{{.tensor = 2}, {.context = 2}};
  const PlanNetwork n = network_of(two, {{cell({0, 1})}, {cell({2, 3})}});
  EXPECT_NE(n.stages[0].cell, n.stages[1].cell);
  EXPECT_EQ(n.stages[0].dense.members, 1);
  EXPECT_EQ(n.stages[1].dense.members, 2);
}

TEST(PlanNetwork, AHundredThousandDevices) {
  const Cluster mega = catalog_cluster("mega-131072");
  const auto slots = place_cells(mega.tree(), {.cell = 8, .stages = 16, .inner = 32, .outer = 32});
  ASSERT_TRUE(slots);
  std::vector<std::vector<Cell>> cells;
  cells.reserve(16);
  for (std::size_t i = 0; i < 16; ++i) cells.push_back(slots->cells_of(i));
  const std::vector<Strategy> strategies(16, Strategy{.tensor = 8, .sequence_parallel = true});
  const PlanNetwork n = plan_network(mega, ideal_constants(mega), strategies, cells, {.zero_shards = 32});
  EXPECT_EQ(n.stages[7].dense.members, 1024);
  EXPECT_EQ(n.stages[7].dense.shards, 32);
  EXPECT_EQ(n.stages[7].dense.whole.size(), 1U);
  // Two stages fill a pod of 512 devices: every other boundary leaves it.
  EXPECT_EQ(n.stage_class[5], n.stage_class[7]);
  EXPECT_NE(n.stage_class[5], n.stage_class[6]);
}

}  // namespace
}  // namespace nest::price
