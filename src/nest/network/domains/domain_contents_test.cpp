#include "nest/network/domains/domain_contents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/cluster/catalog.hpp"

namespace nest::network {
namespace {

// Nodes of 8, racks of 4 nodes, 32 racks.
class DomainContentsTest : public ::testing::Test {
 protected:
  static constexpr DomainSpot kNode{.level = 0, .devices = 8};
  static constexpr DomainSpot kRack{.level = 1, .devices = 32};

  Cluster cluster_ = catalog_cluster("h100-spine-leaf");
  GroupFacts facts_{cluster_};
  DomainContents contents_{cluster_, facts_};
};

// One group with two devices in each of two nodes.
TEST_F(DomainContentsTest, CompleteGroupsLeaveTheirFacts) {
  const SiblingSpec spec{.kind = SiblingKind::spread, .members = 4};
  contents_.start(spec, 1);
  std::vector<GroupArc> arcs{{.owner = 0, .from = 0, .to = 1, .count = 2}};
  const std::int32_t node = contents_.innermost(kNode, arcs, false);
  ASSERT_EQ(contents_.entries(node).size(), 1U);
  EXPECT_EQ(contents_.entries(node).front().count, 2);
  const std::vector<ChildContent> children{{.content = node, .index = 0, .times = 2}};
  const std::int32_t rack = contents_.outer(kRack, children, {}, false);
  EXPECT_TRUE(contents_.entries(rack).empty());
  const OwnerFacts found = contents_.take_found();
  ASSERT_EQ(found.size(), 1U);
  ASSERT_EQ(found[0].size(), 1U);
  const std::vector<DeviceId> ids{DeviceId(0), DeviceId(1), DeviceId(8), DeviceId(9)};
  EXPECT_EQ(facts_.shape(found[0][0], 4, false, false), group_shape(cluster_, ids));
}

// Where all groups are of one owner, the content itself says what is complete.
TEST_F(DomainContentsTest, OneOwnersFactsStayWithTheContent) {
  const SiblingSpec spec{.kind = SiblingKind::chunks, .ring = 2, .members = 2};
  contents_.start(spec, 3);
  std::vector<GroupArc> arcs{{.owner = 0, .from = 0, .to = 3, .count = 2},
                             {.owner = 0, .from = 3, .to = 4, .count = 1}};
  const std::int32_t node = contents_.innermost(kNode, arcs, true);
  EXPECT_EQ(contents_.done(node).size(), 1U);
  EXPECT_EQ(contents_.entries(node).size(), 1U);
  const OwnerFacts found = contents_.take_found();
  for (const auto& names : found) EXPECT_THAT(names, ::testing::IsEmpty());
}

// Neighbouring groups that lie alike make one entry, and a ring's numbers go round.
TEST_F(DomainContentsTest, GroupsAreNumberedRoundTheRing) {
  const SiblingSpec spec{.kind = SiblingKind::spread, .ring = 4, .members = 9};
  contents_.start(spec, 1);
  std::vector<GroupArc> arcs{{.owner = 0, .from = 0, .to = 2, .count = 1}};
  const std::int32_t node = contents_.innermost(kNode, arcs, false);
  const std::vector<ChildContent> children{{.content = node, .base = {0, 1}, .index = 0},
                                           {.content = node, .base = {0, 3}, .index = 1}};
  const std::int32_t rack = contents_.outer(kRack, children, {}, false);
  ASSERT_EQ(contents_.entries(rack).size(), 1U);
  EXPECT_EQ(contents_.entries(rack).front().from, 0);
  EXPECT_EQ(contents_.entries(rack).front().to, 4);
}

}  // namespace
}  // namespace nest::network
