#include "nest/network/groups/group_grid.hpp"

#include <gtest/gtest.h>

#include "nest/network/groups/test_grids.hpp"

namespace nest::network {
namespace {

using test_grids::first;
using test_grids::ring_of;
using test_grids::torus;

TEST(GridShare, AWholeTorusUsesAllItsLinks) {
  const GridShare s = grid_share(torus({4, 4, 8}, {true, true, true}), 128, first(128), false);
  EXPECT_DOUBLE_EQ(s.fraction, 1);
  EXPECT_EQ(s.steps, 3 + 3 + 7);
  // Across the middle of the long side: 8/4 of what a member sends, over 2 of 6 links.
  EXPECT_DOUBLE_EQ(s.exchange, 2 * 6.0 / 2);
}

TEST(GridShare, ALineHasOneLinkEachWay) {
  const Level mesh = torus({4, 4}, {false, false});
  EXPECT_DOUBLE_EQ(grid_share(mesh, 16, first(16), false).fraction, 0.5);
  EXPECT_DOUBLE_EQ(grid_share(mesh, 16, first(4), false).fraction, 0.25);
}

TEST(GridShare, APartOfARingDoesNotClose) {
  const Level t = torus({8}, {true});
  EXPECT_DOUBLE_EQ(grid_share(t, 8, first(8), false).fraction, 1);
  EXPECT_DOUBLE_EQ(grid_share(t, 8, first(4), false).fraction, 0.5);
  EXPECT_EQ(grid_share(t, 8, first(4), false).steps, 3);
}

TEST(GridShare, InterleavedSiblingsShareLinks) {
  const Level t = torus({8}, {true});
  const std::vector<std::int32_t> every_other{0, 2, 4, 6};
  EXPECT_DOUBLE_EQ(grid_share(t, 8, every_other, false).fraction, 1);
  EXPECT_DOUBLE_EQ(grid_share(t, 8, every_other, true).fraction, 0.5);
  EXPECT_EQ(grid_share(t, 8, every_other, true).steps, 6);
}

TEST(GridShare, MembersThatMakeNoBoxRunOneRing) {
  const Level t = torus({4, 4}, {true, true});
  const std::vector<std::int32_t> corner{0, 1, 4};
  const GridShare s = grid_share(t, 16, corner, false);
  EXPECT_DOUBLE_EQ(s.fraction, 0.25);
  EXPECT_EQ(s.steps, 1 + 2);
}

TEST(GridShare, ARingLevelIsOneDimension) {
  const Level ring = ring_of(6);
  EXPECT_DOUBLE_EQ(grid_share(ring, 6, first(6), false).fraction, 1);
  EXPECT_EQ(grid_share(ring, 6, first(6), false).steps, 5);
}

}  // namespace
}  // namespace nest::network
