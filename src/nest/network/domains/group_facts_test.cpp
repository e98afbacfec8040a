#include "nest/network/domains/group_facts.hpp"

#include <gtest/gtest.h>

#include "nest/cluster/catalog.hpp"

namespace nest::network {
namespace {

// Nodes of 8, racks of 4 nodes, 32 racks.
class GroupFactsTest : public ::testing::Test {
 protected:
  Cluster cluster_ = catalog_cluster("h100-spine-leaf");
  GroupFacts facts_{cluster_};
};

TEST_F(GroupFactsTest, SetsOfLoadsHaveNoOrder) {
  const ChildLoad a{.inside = 1, .devices = 8};
  const ChildLoad b{.inside = 2, .devices = 8};
  const std::int32_t one = facts_.with(0, a);
  EXPECT_EQ(facts_.with(one, a), one);
  const std::int32_t both = facts_.with(one, b);
  EXPECT_EQ(facts_.with(facts_.with(0, b), a), both);
  EXPECT_EQ(facts_.united(one, facts_.with(0, b)), both);
  EXPECT_EQ(facts_.united(0, both), both);
}

TEST_F(GroupFactsTest, TheFirstOfEquallyFullDomainsCounts) {
  const std::int32_t small = facts_.place(4, 32);
  const std::int32_t large = facts_.place(5, 40);
  const std::vector<GroupFacts::Part> first{{.members = 2, .edges = 1, .place = small}};
  const std::vector<GroupFacts::Part> second{{.members = 2, .edges = 1, .place = large}};
  std::vector<GroupFacts::Part> all(1);
  facts_.merge(facts_.name(first), 3, all);
  facts_.merge(facts_.name(second), 1, all);
  EXPECT_EQ(all[0].members, 2);
  EXPECT_EQ(all[0].edges, 4);
  EXPECT_EQ(all[0].place, small);
}

// Two devices in each of two nodes of a rack, by hand and by the list of devices.
TEST_F(GroupFactsTest, MakeTheShapeOfAGroup) {
  const std::int32_t in_node = facts_.with(0, {1, 1, 1, 1, 2, 2});
  const std::int32_t in_rack = facts_.with(0, {2, 8, 2, 1, 1, 1});
  const std::vector<GroupFacts::Part> parts{
      {.members = 2, .edges = 2, .loads = in_node, .place = facts_.place(8, 8)},
      {.members = 2, .edges = 1, .loads = in_rack, .place = facts_.place(4, 32)}};
  const std::vector<DeviceId> ids{DeviceId(0), DeviceId(1), DeviceId(8), DeviceId(9)};
  EXPECT_EQ(facts_.shape(facts_.name(parts), 4, false, false), group_shape(cluster_, ids));
}

}  // namespace
}  // namespace nest::network
