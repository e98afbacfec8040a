#include "nest/network/cells/cell_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "nest/network/groups/test_random.hpp"

namespace nest::network {
namespace {

TEST(CellLayout, WalksCellsInDeviceOrder) {
  const DeviceTree racks({{8, {}}, {2, {}}, {2, {}}});
  const CellLayout layout(racks, {.cell = 3, .stages = 2, .inner = 1, .outer = 2, .block_devices = 8});
  auto spot = layout.first_after(4);
  ASSERT_TRUE(spot);
  EXPECT_EQ(spot->start, 3);
  EXPECT_EQ(spot->number, 1);
  spot = layout.next(*spot);
  ASSERT_TRUE(spot);
  EXPECT_EQ(spot->start, 8);
  EXPECT_EQ(spot->block, 1);
  EXPECT_FALSE(layout.first_after(14));
}

// The same as the list of cells, with and without a formula.
TEST(CellLayout, AgreesWithTheListOnRandomTrees) {
  constexpr unsigned kSeed = 20261130;
  int listed = 0;
  int formulas = 0;
  for (unsigned i = 0; i < 2000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed + i));
    test::Dice dice(kSeed + i);
    const Cluster cluster = test::random_cluster(dice);
    PlacementShape shape{.cell = dice.pick(1, 6),
                         .stages = dice.pick(1, 3),
                         .inner = dice.pick(1, 3),
                         .outer = dice.pick(1, 3),
                         .block_devices = dice.once_in(2) ? 0 : dice.pick(1, cluster.devices())};
    const auto table = place_cells(cluster.tree(), shape);
    if (!table) continue;
    shape.block_devices = table->block_devices;
    const CellLayout layout(cluster.tree(), shape);
    (layout.regular() ? formulas : listed) += 1;
    std::vector<std::int32_t> starts = table->starts;
    std::sort(starts.begin(), starts.end());
    std::size_t k = 0;
    for (auto spot = layout.first_after(0); spot; spot = layout.next(*spot)) {
      ASSERT_LT(k, starts.size());
      ASSERT_EQ(spot->start, starts[k++]);
      const std::int64_t divisor = layout.common_divisor();
      ASSERT_EQ(divisor == 0 ? spot->start : spot->start % divisor, 0);
      ASSERT_EQ(spot->start, layout.start(spot->block, spot->number));
    }
    ASSERT_EQ(k, starts.size());
    for (std::int32_t d = 0; d < cluster.devices(); ++d) {
      const auto after = std::upper_bound(starts.begin(), starts.end(), d - shape.cell);
      const auto spot = layout.first_after(d);
      ASSERT_EQ(spot.has_value(), after != starts.end());
      if (spot) {
        ASSERT_EQ(spot->start, *after);
        ASSERT_EQ(layout.start(spot->block, spot->number), spot->start);
      }
    }
  }
  EXPECT_GT(listed, 50);
  EXPECT_GT(formulas, 300);
}

}  // namespace
}  // namespace nest::network
