#include "nest/network/cells/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "nest/network/groups/test_random.hpp"

namespace nest::network {
namespace {

using ::testing::ElementsAre;

// Two racks of two nodes of eight.
const DeviceTree& racks() {
  static const DeviceTree kTree({{8, {}}, {2, {}}, {2, {}}});
  return kTree;
}

// Nodes of 3, 4 and 4 devices.
const DeviceTree& uneven() {
  static const DeviceTree kTree({{1, {3, 4, 4}}, {3, {}}});
  return kTree;
}

TEST(Placement, TheLastStageStartsAtDeviceZero) {
  const auto slots = place_cells(racks(), {.cell = 8, .stages = 2, .inner = 1, .outer = 2});
  ASSERT_TRUE(slots);
  EXPECT_EQ(slots->block_devices, 16);
  EXPECT_THAT(slots->starts, ElementsAre(8, 24, 0, 16));  // stage 0 of both copies, then stage 1
  EXPECT_EQ(slots->cells_of(1)[1].front(), DeviceId{16});
  EXPECT_EQ(slots->cells_of(1)[1].back(), DeviceId{23});
}

TEST(Placement, TheMirrorImageStartsWithTheFirstStage) {
  const auto slots =
      place_cells(racks(), {.cell = 8, .stages = 2, .inner = 1, .outer = 2, .first_stage_first = true});
  ASSERT_TRUE(slots);
  EXPECT_THAT(slots->starts, ElementsAre(0, 16, 8, 24));
}

TEST(Placement, InnerCopiesLieSideBySide) {
  const auto slots = place_cells(racks(), {.cell = 4, .stages = 2, .inner = 2, .outer = 2});
  ASSERT_TRUE(slots);
  EXPECT_THAT(slots->starts, ElementsAre(8, 12, 24, 28, 0, 4, 16, 20));
}

TEST(Placement, ACellMovesToTheNextEdge) {
  // Cells of 3: two fit a node of 8, the third would straddle.
  const auto slots = place_cells(racks(), {.cell = 3, .stages = 3, .inner = 1, .outer = 1});
  ASSERT_TRUE(slots);
  EXPECT_THAT(slots->starts, ElementsAre(8, 3, 0));
  EXPECT_EQ(slots->block_devices, 11);
}

TEST(Placement, ACellThatFitsNoNodeStillKeepsToItsRack) {
  // 12 devices fit no node of 8 but a rack of 16: the second cell skips 4 devices.
  const auto slots = place_cells(racks(), {.cell = 12, .stages = 2, .inner = 1, .outer = 1});
  ASSERT_TRUE(slots);
  EXPECT_THAT(slots->starts, ElementsAre(16, 0));
  // 20 fit nothing but the whole: it may straddle.
  const auto wide = place_cells(racks(), {.cell = 20, .stages = 1, .inner = 1, .outer = 1});
  ASSERT_TRUE(wide);
  EXPECT_THAT(wide->starts, ElementsAre(0));
}

TEST(Placement, UnevenNodesAreCountedAlongTheLeaves) {
  // A cell of 4 does not fit the first node of 3, so it may lie across it; the next starts at an edge.
  const auto four = place_cells(uneven(), {.cell = 4, .stages = 2, .inner = 1, .outer = 1});
  ASSERT_TRUE(four);
  EXPECT_THAT(four->starts, ElementsAre(7, 0));
  const auto three = place_cells(uneven(), {.cell = 3, .stages = 3, .inner = 1, .outer = 1});
  ASSERT_TRUE(three);
  EXPECT_THAT(three->starts, ElementsAre(7, 3, 0));
}

TEST(Placement, ABlockTooSmallOrTooLargeHasNoTable) {
  PlacementShape shape{.cell = 4, .stages = 2, .inner = 1, .outer = 2, .block_devices = 7};
  EXPECT_FALSE(place_cells(racks(), shape));
  shape.block_devices = 8;
  EXPECT_TRUE(place_cells(racks(), shape));
  shape.block_devices = 25;  // the second block would begin at 25 and end at 33
  EXPECT_FALSE(place_cells(racks(), shape));
  shape.block_devices = 33;
  EXPECT_FALSE(place_cells(racks(), shape));
  shape.block_devices = 1 << 24;
  EXPECT_FALSE(place_cells(racks(), shape));
}

TEST(Placement, DegreesBeyondTheClusterHaveNoTable) {
  constexpr std::int64_t kHuge = 1 << 24;
  EXPECT_FALSE(place_cells(racks(), {.cell = kHuge}));
  EXPECT_FALSE(place_cells(racks(), {.stages = kHuge, .inner = 2}));
  EXPECT_FALSE(place_cells(racks(), {.stages = kHuge, .inner = kHuge}));
  EXPECT_FALSE(place_cells(racks(), {.cell = 0}));
  EXPECT_FALSE(place_cells(racks(), {.stages = 0}));
}

TEST(Placement, OneDevice) {
  const DeviceTree one(std::vector<FanOut>{{1, {}}});
  const auto slots = place_cells(one, {});
  ASSERT_TRUE(slots);
  EXPECT_THAT(slots->starts, ElementsAre(0));
  EXPECT_FALSE(place_cells(one, {.cell = 2}));
}

TEST(Placement, AllOf131072Devices) {
  const DeviceTree mega({{8, {}}, {4, {}}, {16, {}}, {16, {}}, {16, {}}});
  const PlacementShape shape{.cell = 8, .stages = 16, .inner = 32, .outer = 32};
  const auto slots = place_cells(mega, shape);
  ASSERT_TRUE(slots);
  EXPECT_EQ(slots->block_devices, 4096);
  const std::set<std::int32_t> starts(slots->starts.begin(), slots->starts.end());
  EXPECT_EQ(starts.size(), 16'384U);
  EXPECT_EQ(*starts.rbegin(), 131'064);
}

TEST(Placement, BlockSizesAreTheTightestThoseRoundedUpAndTheLargest) {
  // 6 devices a block; 8 is a node, 16 a rack and also the largest that fits twice.
  EXPECT_THAT(block_sizes(racks(), {.cell = 2, .stages = 3, .inner = 1, .outer = 2}), ElementsAre(6, 8, 16));
  EXPECT_THAT(block_sizes(racks(), {.cell = 2, .stages = 3, .inner = 1, .outer = 1}),
              ElementsAre(6, 8, 16, 32));
  EXPECT_THAT(block_sizes(racks(), {.cell = 2, .stages = 3, .inner = 1, .outer = 6}), ::testing::IsEmpty());
}

// Every table, on random uneven trees: cells of the right number, none shared, none across a domain that it
// fits in, each block in its range.
TEST(Placement, RandomTablesKeepTheRules) {
  constexpr unsigned kSeed = 20261117;
  int placed = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed + i));
    test::Dice dice(kSeed + i);
    const Cluster cluster = test::random_cluster(dice);
    const DeviceTree& tree = cluster.tree();
    const PlacementShape shape{.cell = dice.pick(1, 6),
                               .stages = dice.pick(1, 4),
                               .inner = dice.pick(1, 3),
                               .outer = dice.pick(1, 3),
                               .block_devices = dice.once_in(2) ? 0 : dice.pick(1, tree.devices()),
                               .first_stage_first = dice.once_in(2)};
    const auto slots = place_cells(tree, shape);
    if (!slots) continue;
    ++placed;
    ASSERT_EQ(slots->starts.size(), static_cast<std::size_t>(shape.stages * shape.inner * shape.outer));
    if (shape.block_devices != 0) {
      ASSERT_EQ(slots->block_devices, shape.block_devices);
    }
    std::set<std::int32_t> used;
    for (std::size_t k = 0; k < slots->starts.size(); ++k) {
      const std::int32_t start = slots->starts[k];
      const std::int64_t copy = static_cast<std::int64_t>(k) % slots->copies;
      const std::int64_t block = copy / shape.inner * slots->block_devices;
      ASSERT_GE(start, block);
      ASSERT_LE(start + shape.cell, std::min<std::int64_t>(block + slots->block_devices, tree.devices()));
      for (std::int32_t j = 0; j < shape.cell; ++j) ASSERT_TRUE(used.insert(start + j).second);
      const DeviceId last(start + static_cast<std::int32_t>(shape.cell) - 1);
      for (std::int32_t l = 0; l < tree.levels(); ++l) {
        const std::int32_t domain = tree.domain_of(DeviceId{start}, LevelId{l});
        if (tree.devices_in(LevelId{l}, domain) >= shape.cell) {
          ASSERT_EQ(tree.domain_of(last, LevelId{l}), domain);
        }
      }
    }
  }
  EXPECT_GT(placed, 500);
}

// Where some block size fits, the rule finds one, and it is the tightest.
TEST(Placement, TheTightestBlockIsFoundWhereThereIsOne) {
  constexpr unsigned kSeed = 20261118;
  for (unsigned i = 0; i < 3000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed + i));
    test::Dice dice(kSeed + i);
    const Cluster cluster = test::random_cluster(dice);
    PlacementShape shape{.cell = dice.pick(1, 6),
                         .stages = dice.pick(1, 3),
                         .inner = dice.pick(1, 2),
                         .outer = dice.pick(1, 3)};
    const auto rule = place_cells(cluster.tree(), shape);
    std::int64_t tightest = 0;
    for (std::int64_t b = 1; b <= cluster.devices() && tightest == 0; ++b) {
      shape.block_devices = b;
      if (place_cells(cluster.tree(), shape)) tightest = b;
    }
    ASSERT_EQ(rule ? rule->block_devices : 0, tightest);
  }
}

// The same by hand: three cells of 3 in nodes of 3, 4 and 4 fit ranges of 4 (at 0, 4 and 8), not of 3.
TEST(Placement, RangesMayEndBeyondTheLastDevice) {
  const PlacementShape shape{.cell = 3, .stages = 1, .inner = 1, .outer = 3};
  PlacementShape four = shape;
  four.block_devices = 4;
  ASSERT_TRUE(place_cells(uneven(), four));
  EXPECT_THAT(place_cells(uneven(), four)->starts, ElementsAre(0, 4, 8));
  EXPECT_TRUE(place_cells(uneven(), shape));
  EXPECT_THAT(block_sizes(uneven(), shape), ElementsAre(4));
}

TEST(Placement, ZeroShardsAreTheRanksThatShareADomain) {
  // Cells of 4 in pairs: two ranks in a node, four in a rack, eight in all.
  const auto slots = place_cells(racks(), {.cell = 4, .stages = 1, .inner = 8, .outer = 1});
  EXPECT_THAT(zero_shard_sizes(racks(), *slots, {.tensor = 4}), ElementsAre(2, 4));
  // Context ranks of one cell are ranks of the group.
  EXPECT_THAT(zero_shard_sizes(racks(), *slots, {.tensor = 2, .context = 2}), ElementsAre(4, 8));
  // Three ranks of 4 do not divide a group of 8.
  const auto three = place_cells(uneven(), {.cell = 1, .stages = 1, .inner = 8, .outer = 1});
  EXPECT_THAT(zero_shard_sizes(uneven(), *three, {}), ::testing::IsEmpty());
}

TEST(Placement, ZeroShardsAreThoseOfTheSlotAtDeviceZero) {
  PlacementShape shape{.cell = 1, .stages = 2, .inner = 3, .outer = 2, .block_devices = 11};
  const DeviceTree tree({{1, {3, 8, 4, 8}}, {4, {}}});
  for (const bool mirrored : {false, true}) {
    shape.first_stage_first = mirrored;
    const auto slots = place_cells(tree, shape);
    EXPECT_THAT(zero_shard_sizes(tree, *slots, {}), ElementsAre(3));
  }
}

// One rank after the other, by their devices.
TEST(Placement, ZeroShardsAgreeWithTheirDefinition) {
  constexpr unsigned kSeed = 20261119;
  int sizes = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed + i));
    test::Dice dice(kSeed + i);
    const Cluster cluster = test::random_cluster(dice);
    const DeviceTree& tree = cluster.tree();
    const Strategy strategy{.tensor = dice.pick(1, 3), .context = dice.pick(1, 3)};
    const auto slots = place_cells(tree, {.cell = strategy.cell(),
                                          .stages = dice.pick(1, 3),
                                          .inner = dice.pick(1, 4),
                                          .outer = dice.pick(1, 3),
                                          .first_stage_first = dice.once_in(2)});
    if (!slots) continue;
    const std::size_t stages = slots->starts.size() / static_cast<std::size_t>(slots->copies);
    const bool first = slots->starts.front() == 0;
    std::vector<DeviceId> ranks;
    for (const Cell& cell : slots->cells_of(first ? 0 : stages - 1)) {
      for (std::size_t j = 0; j < cell.size(); j += static_cast<std::size_t>(strategy.tensor))
        ranks.push_back(cell[j]);
    }
    std::set<std::int64_t> expected;
    for (std::int32_t l = 0; l < tree.levels(); ++l) {
      std::size_t n = 0;
      while (n < ranks.size() && tree.domain_of(ranks[n], LevelId(l)) == tree.domain_of(ranks[0], LevelId(l)))
        ++n;
      if (n > 1 && n < ranks.size() && ranks.size() % n == 0) expected.insert(static_cast<std::int64_t>(n));
    }
    sizes += static_cast<int>(expected.size());
    ASSERT_THAT(zero_shard_sizes(tree, *slots, strategy), ::testing::ElementsAreArray(expected));
  }
  EXPECT_GT(sizes, 100);
}

// Laid out cell by cell, as the rule says: what block_sizes() computes.
namespace twin {

std::int64_t lay_block(const DeviceTree& tree, const PlacementShape& shape, std::int64_t at) {
  for (std::int64_t k = 0; k < shape.stages * shape.inner; ++k) {
    for (std::int32_t l = 0; l < tree.levels() && at + shape.cell <= tree.devices();) {
      const std::int32_t domain = tree.domain_of(DeviceId(static_cast<std::int32_t>(at)), LevelId(l));
      const std::int64_t size = tree.devices_in(LevelId(l), domain);
      const std::int64_t end = tree.first_device(LevelId(l), domain).value + size;
      const bool moves = shape.cell <= size && at + shape.cell > end;
      at = moves ? end : at;
      l = moves ? 0 : l + 1;
    }
    if (at + shape.cell > tree.devices()) return tree.devices() + 1;
    at += shape.cell;
  }
  return at;
}

bool fits(const DeviceTree& tree, const PlacementShape& shape, std::int64_t block) {
  for (std::int64_t o = 0; o < shape.outer; ++o) {
    if (lay_block(tree, shape, o * block) > std::min<std::int64_t>((o + 1) * block, tree.devices()))
      return false;
  }
  return true;
}

std::vector<std::int64_t> block_sizes(const DeviceTree& tree, const PlacementShape& shape) {
  const std::int64_t need = shape.stages * shape.inner * shape.cell;
  std::set<std::int64_t> candidates{tree.devices() / shape.outer};
  for (std::int32_t l = 0; l < tree.levels(); ++l) {
    std::int64_t largest = 0;
    for (std::int32_t d = 0; d < tree.domains(LevelId(l)); ++d)
      largest = std::max<std::int64_t>(largest, tree.devices_in(LevelId(l), d));
    candidates.insert((need + largest - 1) / largest * largest);
  }
  for (std::int64_t size = need; size <= tree.devices(); ++size) {
    if (!fits(tree, shape, size)) continue;
    candidates.insert(size);
    break;
  }
  const std::int64_t most = shape.outer == 1 ? tree.devices() : (tree.devices() - need) / (shape.outer - 1);
  std::vector<std::int64_t> sizes;
  for (const std::int64_t size : candidates) {
    if (size >= need && size <= most && fits(tree, shape, size)) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace twin

TEST(Placement, BlockSizesAgreeWithLayingOutEveryCell) {
  constexpr unsigned kSeed = 20261120;
  int found = 0;
  for (unsigned i = 0; i < 5000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed + i));
    test::Dice dice(kSeed + i);
    const bool even = dice.once_in(2);
    const DeviceTree tree = even ? DeviceTree({{static_cast<std::int32_t>(dice.pick(1, 9)), {}},
                                               {static_cast<std::int32_t>(dice.pick(1, 5)), {}},
                                               {static_cast<std::int32_t>(dice.pick(1, 6)), {}}})
                                 : test::random_cluster(dice).tree();
    const PlacementShape shape{.cell = dice.pick(1, 12),
                               .stages = dice.pick(1, 7),
                               .inner = dice.pick(1, 4),
                               .outer = dice.pick(1, 6)};
    const std::vector<std::int64_t> sizes = block_sizes(tree, shape);
    if (shape.cell * shape.stages * shape.inner * shape.outer > tree.devices()) {
      ASSERT_TRUE(sizes.empty());
      ASSERT_FALSE(place_cells(tree, shape));
      continue;
    }
    ASSERT_EQ(sizes, twin::block_sizes(tree, shape));
    found += static_cast<int>(sizes.size());
    const auto block = fitting_block(tree, shape);
    ASSERT_EQ(block.value_or(0), sizes.empty() ? 0 : sizes.front());
    for (std::int64_t size = 1; size <= tree.devices(); size += 1 + size / 16) {
      PlacementShape pinned = shape;
      pinned.block_devices = size;
      ASSERT_EQ(place_cells(tree, pinned).has_value(), twin::fits(tree, shape, size));
    }
  }
  EXPECT_GT(found, 1000);
}

}  // namespace
}  // namespace nest::network
