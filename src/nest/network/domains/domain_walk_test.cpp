#include "nest/network/domains/domain_walk.hpp"

#include <gtest/gtest.h>

#include "nest/cluster/catalog.hpp"

namespace nest::network {
namespace {

// 16 stages of one cell of 8, 64 times over 8,192 devices: each stage has one group for each lane, and every
// stage lies like every other.
TEST(DomainWalk, SlotsThatLieAlikeHaveTheSameFacts) {
  const Cluster mega = catalog_cluster("mega-131072");
  const CellLayout layout(mega.tree(),
                          {.cell = 8, .stages = 16, .inner = 1, .outer = 64, .block_devices = 128});
  GroupFacts facts(mega);
  const SiblingSpec spec{.kind = SiblingKind::spread, .lanes = 8, .members = 64};
  const OwnerFacts found = DomainWalk(mega, layout, facts).run(spec, 16);
  ASSERT_EQ(found.size(), 16U);
  for (const auto& names : found) EXPECT_EQ(names, found.front());
  ASSERT_EQ(found.front().size(), 1U);
  const GroupShape shape = facts.shape(found.front().front(), 64, false, true);
  // Four blocks in each pod of 512, in racks of their own; 16 pods.
  ASSERT_EQ(shape.levels().size(), 2U);
  EXPECT_EQ(shape.levels()[0].level, LevelId(2));
  EXPECT_EQ(shape.levels()[0].members, 4);
  EXPECT_EQ(shape.levels()[1].members, 16);
  EXPECT_EQ(shape.levels()[1].inside, 4);
}

// In blocks of 56 devices stages straddle racks: the groups of two slots differ, those of one do not.
TEST(DomainWalk, ChunksOfOneSlotMayDiffer) {
  const Cluster cluster = catalog_cluster("h100-spine-leaf");
  const CellLayout layout(cluster.tree(),
                          {.cell = 8, .stages = 7, .inner = 1, .outer = 16, .block_devices = 56});
  GroupFacts facts(cluster);
  const SiblingSpec spec{.kind = SiblingKind::chunks, .lanes = 8, .ring = 2, .members = 2};
  const OwnerFacts found = DomainWalk(cluster, layout, facts).run(spec, 7);
  for (const auto& names : found) EXPECT_FALSE(names.empty());
}

}  // namespace
}  // namespace nest::network
