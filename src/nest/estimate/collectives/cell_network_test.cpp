#include "nest/estimate/collectives/cell_network.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"
#include "nest/cluster/catalog.hpp"

namespace nest::estimate {
namespace {

// Tensor 8 fills a node of 8: a ring all-reduce of 100 MB at 450 GB/s, 14 steps of 1 us.
TEST(CellNetwork, TensorGroupsStayInTheNode) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const CellNetwork network(cluster, ideal_constants(cluster), {.tensor = 8});
  CollectiveCall c;
  c.forward = CollectiveKind::all_reduce;
  c.forward_bytes = Bytes{100'000'000};
  const double transfer = 2 * 7.0 / 8 * 100e6 / 450e9;
  EXPECT_GE(network.time(c, Direction::forward).value, transfer);
  EXPECT_LE(network.time(c, Direction::forward).value, transfer + 14e-6);
  EXPECT_EQ(network.time(c, Direction::backward).value, 0);
}

// Context 4 above tensor 8: each of the 8 tensor ranks talks to its peers in the other nodes over its own
// interface.
TEST(CellNetwork, ContextGroupsUseOneInterfacePerRank) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const CellNetwork network(cluster, ideal_constants(cluster), {.tensor = 8, .context = 4});
  CollectiveCall c;
  c.forward = CollectiveKind::send;
  c.group = GroupAxis::context;
  c.forward_bytes = Bytes{50'000'000};
  c.repeats = 3;
  EXPECT_NEAR(network.time(c, Direction::forward).value, 3 * (50e6 / 50e9 + 5e-6), 1e-9);
}

// Cells of 12 devices over nodes of 8: the tensor group {6, 7, 8} crosses a node, and the slowest group
// counts.
TEST(CellNetwork, AGroupThatStraddlesANodeIsPricedSo) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  CollectiveCall c;
  c.forward = CollectiveKind::all_gather;
  c.forward_bytes = Bytes{12'000'000};
  const CellNetwork straddles(cluster, ideal_constants(cluster), {.tensor = 3, .context = 4});
  EXPECT_GT(straddles.groups(GroupAxis::tensor).size(), 1U);
  EXPECT_GT(straddles.time(c, Direction::forward).value, 2.0 / 3 * 12e6 / 50e9 / 2);
  // Six devices fit in a node of 8: the next cell moves to the next node.
  const CellNetwork moved(cluster, ideal_constants(cluster), {.tensor = 6});
  EXPECT_LT(moved.time(c, Direction::forward).value, 5.0 / 6 * 12e6 / 450e9 + 10e-6);
}

std::vector<std::vector<DeviceId>> cells_from(std::int32_t first, std::int32_t count, std::int32_t size) {
  std::vector<std::vector<DeviceId>> cells(static_cast<std::size_t>(count));
  for (std::int32_t i = 0; i < count * size; ++i)
    cells[static_cast<std::size_t>(i / size)].emplace_back(first + i);
  return cells;
}

// Named cells that fill the cluster are the cells that fill the cluster.
TEST(CellNetwork, NamedCellsCostWhatTheirPlaceDoes) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const std::vector<Strategy> strategies{
      {},
      {.tensor = 8},
      {.tensor = 2, .context = 8},
      {.tensor = 8, .context = 4, .expert = 4, .expert_tensor = 1},
      {.tensor = 2, .expert = 64, .expert_tensor = 1},
      {.expert = 16, .expert_tensor = 4},
      {.tensor = 2, .context = 16, .context_method = ContextMethod::hybrid, .context_inner = 4}};
  for (const Strategy& s : strategies) {
    const auto size = static_cast<std::int32_t>(s.cell());
    const CellNetwork filling(cluster, ideal_constants(cluster), s);
    const CellNetwork named(cluster, ideal_constants(cluster), s, cells_from(0, 1024 / size, size));
    for (const GroupAxis axis : group_axes(s)) {
      EXPECT_EQ(named.groups(axis), filling.groups(axis)) << spell(s);
      // A part of an axis: every other member.
      CollectiveCall part{CollectiveKind::all_gather, CollectiveKind::none, axis};
      part.forward_bytes = Bytes{10'000'000};
      part.members = 2;
      part.stride = degree_of(s, axis) / 2;
      if (degree_of(s, axis) < 4) continue;
      EXPECT_DOUBLE_EQ(named.time(part, Direction::forward).value,
                       filling.time(part, Direction::forward).value)
          << spell(s);
    }
  }
}

// Tensor 2, context 2, side 2 of expert 8: j = tensor + 2 * (context + 2 * side).
TEST(CellNetwork, GroupsFollowTheIdsWithinACell) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const Strategy s{.tensor = 2, .context = 2, .expert = 8, .expert_tensor = 1};
  // Context ranks in the same node, sides in different ones.
  const std::vector<std::vector<DeviceId>> cells{{DeviceId{0}, DeviceId{1}, DeviceId{2}, DeviceId{3},
                                                  DeviceId{8}, DeviceId{9}, DeviceId{10}, DeviceId{11}}};
  const CellNetwork network(cluster, ideal_constants(cluster), s, cells);
  ASSERT_EQ(network.groups(GroupAxis::context).size(), 1U);
  EXPECT_EQ(network.groups(GroupAxis::context).front().levels().size(), 1U);
  EXPECT_EQ(network.groups(GroupAxis::context).front().levels()[0].level, LevelId(0));
  ASSERT_EQ(network.groups(GroupAxis::expert).size(), 1U);
  EXPECT_EQ(network.groups(GroupAxis::expert).front().members(), 8);
  EXPECT_EQ(network.groups(GroupAxis::expert).front().levels().size(), 2U);
}

// 16 context ranks of 2 tensor ranks each on four nodes: all-to-all groups of four ranks lie inside a node, and the
// rings have one rank in each.
TEST(CellNetwork, HybridTradesInsideNodesAndTurnsAcross) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const Strategy s{.tensor = 2, .context = 16, .context_method = ContextMethod::hybrid, .context_inner = 4};
  const CellNetwork network(cluster, ideal_constants(cluster), s);
  const auto one = [&](GroupAxis axis) {
    EXPECT_EQ(network.groups(axis).size(), 1U);
    return network.groups(axis).front();
  };
  EXPECT_EQ(one(GroupAxis::context_inner).members(), 4);
  EXPECT_EQ(one(GroupAxis::context_inner).outermost().level, LevelId(0));
  EXPECT_EQ(one(GroupAxis::context_outer).members(), 4);
  ASSERT_EQ(one(GroupAxis::context_outer).levels().size(), 1U);
  EXPECT_EQ(one(GroupAxis::context_outer).levels()[0].level, LevelId(1));
  // Those of the whole axis, and of a plan without hybrid none.
  EXPECT_EQ(one(GroupAxis::context).members(), 16);
  EXPECT_TRUE(CellNetwork(cluster, ideal_constants(cluster), {.tensor = 2, .context = 16})
                  .groups(GroupAxis::context_inner)
                  .empty());
}

// Cells of two nodes each: neighbours share the uplinks of a rack, which carry a quarter of what nodes send.
TEST(CellNetwork, OthersTalkWithoutBeingPriced) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const Strategy s{.tensor = 2, .context = 2};
  const auto across = [](std::int32_t first) {
    return std::vector<DeviceId>{DeviceId{first}, DeviceId{first + 1}, DeviceId{first + 512},
                                 DeviceId{first + 513}};
  };
  std::vector<std::vector<DeviceId>> others;
  for (std::int32_t first = 2; first < 32; first += 2) others.push_back(across(first));
  others.push_back({DeviceId{62}, DeviceId{64}, DeviceId{66}, DeviceId{127}});  // lies otherwise
  const std::vector<std::vector<DeviceId>> own{across(0)};
  const CellNetwork alone(cluster, ideal_constants(cluster), s, own);
  const CellNetwork among(cluster, ideal_constants(cluster), s, own, others);
  EXPECT_EQ(among.groups(GroupAxis::tensor).size(), 1U);
  EXPECT_EQ(among.groups(GroupAxis::context).size(), 1U);
  CollectiveCall c{CollectiveKind::all_gather, CollectiveKind::none, GroupAxis::context};
  c.forward_bytes = Bytes{100'000'000};
  EXPECT_GT(among.time(c, Direction::forward).value, 1.9 * alone.time(c, Direction::forward).value);
}

TEST(CellNetwork, ANamedCellHasItsStrategysDevices) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  try {
    const CellNetwork network(cluster, ideal_constants(cluster), {.tensor = 8}, cells_from(0, 2, 4));
    FAIL() << "no error";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "h100-spine-leaf: a cell of 8 devices (tensor 8) lists 4");
  }
}

TEST(CellNetwork, ACellMustFit) {
  const Cluster cluster = catalog_cluster("pcie-workstation");
  try {
    const CellNetwork network(cluster, ideal_constants(cluster), {.tensor = 8});
    FAIL() << "no error";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "pcie-workstation: a cell of 8 devices (tensor 8) does not fit its 4 devices");
  }
}

TEST(UsualCluster, IsANodeOfEightAndItsNetwork) {
  const Cluster cluster = usual_cluster(find_accelerator("h200"));
  EXPECT_EQ(cluster.devices(), 1024);
  EXPECT_DOUBLE_EQ(cluster.levels()[0].bandwidth.value, 450e9);
}

}  // namespace
}  // namespace nest::estimate
