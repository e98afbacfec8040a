#include "nest/network/domains/slot_siblings.hpp"

#include <gtest/gtest.h>

#include "nest/network/groups/test_random.hpp"

namespace nest::network {
namespace {

// Devices of a slot, copy after copy.
std::vector<std::vector<DeviceId>> devices_by_slot(const CellLayout& layout) {
  std::vector<std::vector<DeviceId>> out(static_cast<std::size_t>(layout.shape().stages));
  for (auto spot = layout.first_after(0); spot; spot = layout.next(*spot)) {
    auto& own = out[static_cast<std::size_t>(spot->number / layout.shape().inner)];
    for (std::int64_t j = 0; j < layout.shape().cell; ++j)
      own.emplace_back(static_cast<std::int32_t>(spot->start + j));
  }
  return out;
}

using Groups = std::vector<std::vector<DeviceId>>;

// The shapes of groups `first` to `last` of some siblings.
Shapes some(const Cluster& cluster, const Groups& groups, std::size_t first, std::size_t last) {
  const std::vector<GroupShape> all = group_shapes(cluster, groups);
  return Shapes(
      {all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(last)});
}

void expect_same(const Cluster& cluster, const std::vector<Groups>& by_slot, const SlotShapes& found) {
  Groups all;
  for (const Groups& own : by_slot) all.insert(all.end(), own.begin(), own.end());
  std::size_t first = 0;
  for (std::size_t slot = 0; slot < by_slot.size(); ++slot) {
    const std::size_t last = first + by_slot[slot].size();
    ASSERT_TRUE(found.together[slot] == some(cluster, all, first, last)) << "slot " << slot;
    ASSERT_TRUE(found.alone[slot] == some(cluster, by_slot[slot], 0, last - first)) << "slot " << slot;
    first = last;
  }
}

// Groups listed device by device, in random uneven trees.
TEST(SlotSiblings, AgreeWithListsOfDevices) {
  constexpr unsigned kSeed = 20261204;
  int placed = 0;
  for (unsigned i = 0; i < 4000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed + i));
    test::Dice dice(kSeed + i);
    const Cluster cluster = test::random_cluster(dice);
    PlacementShape shape{.cell = dice.pick(1, 6),
                         .stages = dice.pick(1, 4),
                         .inner = dice.pick(1, 4),
                         .outer = dice.pick(1, 4)};
    const auto block = fitting_block(cluster.tree(), shape);
    if (!block) continue;
    ++placed;
    shape.block_devices = *block;
    const CellLayout layout(cluster.tree(), shape);
    const auto devices = devices_by_slot(layout);
    const std::int64_t width = dice.divisor_of(shape.cell);
    const std::int64_t ranks = static_cast<std::int64_t>(devices.front().size()) / width;
    const std::int64_t shards = dice.divisor_of(ranks);
    std::vector<Groups> spread(devices.size(), Groups(static_cast<std::size_t>(width * shards)));
    std::vector<Groups> chunks(devices.size(), Groups(static_cast<std::size_t>(ranks / shards * width)));
    for (std::size_t s = 0; s < devices.size(); ++s) {
      for (std::int64_t k = 0; k < ranks * width; ++k) {
        const std::int64_t rank = k / width;
        const DeviceId id = devices[s][static_cast<std::size_t>(k)];
        spread[s][static_cast<std::size_t>(rank % shards * width + k % width)].push_back(id);
        chunks[s][static_cast<std::size_t>(rank / shards * width + k % width)].push_back(id);
      }
    }
    SlotSiblings siblings(cluster, layout);
    if (shards < ranks) {
      ASSERT_NO_FATAL_FAILURE(expect_same(cluster, spread, siblings.spread(width, shards, true)));
    }
    if (shards > 1) {
      ASSERT_NO_FATAL_FAILURE(expect_same(cluster, chunks, siblings.chunks(width, shards, true)));
    }
    if (shape.stages < 2) continue;
    Groups pairs;
    for (std::size_t k = 0; k < devices.front().size(); ++k)
      pairs.push_back({devices.front()[k], devices.back()[k]});
    ASSERT_TRUE(siblings.pairs({{0, shape.stages - 1}}).front() == some(cluster, pairs, 0, pairs.size()));
  }
  EXPECT_GT(placed, 500);
}

}  // namespace
}  // namespace nest::network
