#include "nest/network/groups/group.hpp"

#include <gtest/gtest.h>

#include "nest/base/error.hpp"

namespace nest::network {
namespace {

Cluster cluster_of(std::vector<Level> levels) {
  return Cluster({.name = "test", .levels = std::move(levels)});
}

Level level(const std::string& name, std::int32_t size, double oversubscription = 1) {
  Level out{.name = name, .bandwidth = BytesPerSecond{1e9}, .latency = Seconds{1e-6}};
  out.fan_out.size = size;
  out.oversubscription = oversubscription;
  return out;
}

std::vector<DeviceId> ids(std::initializer_list<std::int32_t> list) {
  std::vector<DeviceId> out;
  for (const std::int32_t i : list) out.emplace_back(i);
  return out;
}

TEST(GroupShape, OneDeviceSpansNothing) {
  const Cluster c = cluster_of({level("node", 8)});
  EXPECT_TRUE(group_shape(c, ids({3})).levels().empty());
  EXPECT_TRUE(group_shape(c, ids({3, 3})).levels().empty());
  EXPECT_TRUE(group_shape(c, {}).levels().empty());
}

TEST(GroupShape, MembersPerLevel) {
  const Cluster c = cluster_of({level("node", 8), level("rack", 4), level("spine", 2)});
  const GroupShape s = group_shape(c, ids({0, 1, 8, 9, 32, 33, 40, 41}));
  ASSERT_EQ(s.levels().size(), 3U);
  EXPECT_EQ(s.members(), 8);
  for (const GroupLevel& g : s.levels()) EXPECT_EQ(g.members, 2);
  EXPECT_EQ(s.levels()[1].inside, 2);
  EXPECT_EQ(s.levels()[2].inside, 4);
  EXPECT_DOUBLE_EQ(s.levels()[2].load, 0.25);  // four members of a rack carry a quarter each
  // A ring over eight members: 4 hops in nodes, 2 in racks, 1 across (and one back).
  EXPECT_EQ(s.levels()[0].edges, 4);
  EXPECT_EQ(s.levels()[1].edges, 2);
  EXPECT_EQ(s.levels()[2].edges, 1);
}

TEST(GroupShape, LevelsWithoutATurnAreLeftOut) {
  const Cluster c = cluster_of({level("node", 8), level("rack", 4), level("spine", 2)});
  const GroupShape s = group_shape(c, ids({0, 32}));
  ASSERT_EQ(s.levels().size(), 1U);
  EXPECT_EQ(s.levels()[0].level, LevelId(2));
}

TEST(GroupShape, UnevenGroupsGoAtThePaceOfTheChildWithFewest) {
  const Cluster c = cluster_of({level("node", 4), level("rack", 2)});
  const GroupShape s = group_shape(c, ids({0, 1, 2, 4}));
  ASSERT_EQ(s.levels().size(), 2U);
  EXPECT_EQ(s.levels()[0].members, 3);
  EXPECT_EQ(s.levels()[1].members, 2);
  EXPECT_DOUBLE_EQ(s.levels()[1].load, 1);  // device 4 alone carries everything for its node
}

TEST(GroupShapes, EightRailsKeepTheirOwnBandwidth) {
  const Cluster c = cluster_of({level("node", 8), level("rack", 4)});
  std::vector<std::vector<DeviceId>> rails(8);
  for (std::int32_t i = 0; i < 32; ++i) rails[static_cast<std::size_t>(i % 8)].emplace_back(i);
  for (const GroupShape& s : group_shapes(c, rails)) {
    ASSERT_EQ(s.levels().size(), 1U);
    EXPECT_DOUBLE_EQ(s.levels()[0].load, 1);
  }
}

TEST(GroupShapes, GroupsShareAnOversubscribedUplink) {
  // Eight devices behind an uplink for one: k groups through it get a k-th each.
  const Cluster c = cluster_of({level("node", 8), level("rack", 4, 8)});
  for (std::int32_t k = 1; k <= 8; ++k) {
    std::vector<std::vector<DeviceId>> groups;
    groups.reserve(static_cast<std::size_t>(k));
    for (std::int32_t g = 0; g < k; ++g) groups.push_back(ids({g, g + 8}));
    for (const GroupShape& s : group_shapes(c, groups)) {
      EXPECT_DOUBLE_EQ(s.levels()[0].load, k);
      EXPECT_DOUBLE_EQ(s.levels()[0].lone, k);
    }
  }
  // Alone, two members of a node carry half each, through half an uplink each.
  EXPECT_DOUBLE_EQ(group_shape(c, ids({0, 1, 8, 9})).levels()[1].load, 1);
}

TEST(GroupShapes, OversubscriptionUpToItsFactorCostsNothing) {
  const Cluster c = cluster_of({level("node", 8), level("rack", 4, 4)});
  EXPECT_DOUBLE_EQ(group_shapes(c, std::vector{ids({0, 8}), ids({1, 9})})[0].levels()[0].load, 1);
  EXPECT_DOUBLE_EQ(
      group_shapes(c, std::vector{ids({0, 8}), ids({1, 9}), ids({2, 10}), ids({3, 11})})[0].levels()[0].load,
      2);
}

TEST(GroupShapes, InnermostOversubscriptionIsTheWholeDomains) {
  const Cluster c = cluster_of({level("node", 8, 4)});
  EXPECT_DOUBLE_EQ(group_shape(c, ids({0, 1})).levels()[0].load, 1);  // alone: the whole bandwidth
  EXPECT_DOUBLE_EQ(group_shape(c, ids({0, 1, 2, 3, 4, 5, 6, 7})).levels()[0].load, 4);
}

TEST(GroupShapes, AllToAllCountsWhatLeavesTheChild) {
  const Cluster c = cluster_of({level("node", 2), level("rack", 2)});
  const GroupShape s = group_shape(c, ids({0, 1, 2, 3}));
  EXPECT_DOUBLE_EQ(s.levels()[0].exchange, 0.75);
  EXPECT_DOUBLE_EQ(s.levels()[1].exchange, 0.5);
}

TEST(GroupShape, FullyConnectedUsesTheLinksToItsMembers) {
  Level node = level("node", 8);
  node.kind = LevelKind::fully_connected;
  const Cluster c = cluster_of({node});
  const GroupLevel g = group_shape(c, ids({0, 1, 2, 3})).levels()[0];
  EXPECT_DOUBLE_EQ(g.fraction, 3.0 / 7);
  EXPECT_DOUBLE_EQ(g.link, 1.0 / 7);
  EXPECT_EQ(g.log_steps, 1);
  EXPECT_DOUBLE_EQ(g.exchange, 7.0 / 4);  // a quarter of the bytes over each seventh of the bandwidth
}

TEST(GroupShape, TooManyLevelsAreRefused) {
  GroupShape s;
  for (std::size_t i = 0; i < kMostSpannedLevels; ++i) s.add({});
  EXPECT_THROW(s.add({}), InputError);
}

GroupShape spanning(std::int32_t members) {
  GroupShape shape(members);
  shape.add({.level = LevelId{0}, .members = members});
  return shape;
}

TEST(Shapes, AreKeptOnceAndInOneOrder) {
  const Shapes a({spanning(4), spanning(2), spanning(4)});
  const Shapes b({spanning(2), spanning(4)});
  EXPECT_EQ(a.size(), 2U);
  EXPECT_EQ(a, b);
  EXPECT_EQ(a[0], a.front());
  EXPECT_FALSE(a == Shapes({spanning(2)}));
}

TEST(Shapes, OfNoGroupsAreEmpty) {
  EXPECT_TRUE(Shapes().empty());
  EXPECT_TRUE(Shapes(std::vector<GroupShape>{}).empty());
  EXPECT_EQ(Shapes(), Shapes(std::vector<GroupShape>{}));
  EXPECT_FALSE(Shapes({spanning(2)}).empty());
}

}  // namespace
}  // namespace nest::network
