#include "nest/network/cells/regular_cells.hpp"

#include <gtest/gtest.h>

namespace nest::network {
namespace {

const DeviceTree& racks() {
  static const DeviceTree kTree({{8, {}}, {2, {}}, {2, {}}});
  return kTree;
}

TEST(RegularCells, MoveToTheNextEdge) {
  const auto cells = RegularCells::find(racks(), 3);
  ASSERT_TRUE(cells);
  EXPECT_EQ(cells->unit(), 8);
  EXPECT_EQ(cells->per_unit(), 2);
  EXPECT_EQ(cells->start(4, 0), 4);
  EXPECT_EQ(cells->start(4, 1), 8);
  EXPECT_EQ(cells->start(4, 2), 11);
  EXPECT_EQ(cells->start(4, 3), 16);
  EXPECT_EQ(cells->end(4, 3), 14);
}

TEST(RegularCells, NoCellFitsBeforeTheEdge) {
  const auto cells = RegularCells::find(racks(), 3);
  EXPECT_EQ(cells->start(6, 0), 8);
}

TEST(RegularCells, TheUnitIsTheSmallestDomainThatHoldsACell) {
  EXPECT_EQ(RegularCells::find(racks(), 12)->unit(), 16);
  EXPECT_EQ(RegularCells::find(racks(), 20)->unit(), 32);
  EXPECT_FALSE(RegularCells::find(racks(), 33));
}

TEST(RegularCells, OnlyInDomainsThatAreAlike) {
  const DeviceTree uneven({{4, {}}, {1, {3, 5}}, {2, {}}});
  EXPECT_EQ(RegularCells::find(uneven, 4)->unit(), 4);
  EXPECT_FALSE(RegularCells::find(uneven, 5));
}

// Device by device.
TEST(RegularCells, TheFirstCellAfterADevice) {
  for (std::int64_t cell = 1; cell <= 16; ++cell) {
    const auto cells = RegularCells::find(racks(), cell);
    for (std::int64_t from = 0; from < 20; ++from) {
      for (std::int64_t at = from; at < 60; ++at) {
        std::int64_t i = 0;
        while (cells->start(from, i) + cell <= at) ++i;
        ASSERT_EQ(cells->first_after(from, at), i) << cell << " " << from << " " << at;
      }
    }
  }
}

}  // namespace
}  // namespace nest::network
