#include "nest/network/groups/grid_axes.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "nest/network/groups/test_grids.hpp"

namespace nest::network {
namespace {

using test_grids::ring_of;
using test_grids::torus;

TEST(GridAxes, ChildrenHaveCoordinates) {
  const GridAxes axes = grid_axes(torus({4, 3, 2}, {true, false, true}), 24);
  ASSERT_EQ(axes.size, 3U);
  EXPECT_EQ(axes.coordinate(23, 0), 3);
  EXPECT_EQ(axes.coordinate(23, 1), 2);
  EXPECT_EQ(axes.coordinate(23, 2), 1);
  EXPECT_EQ(axes.moved(3, 0, 1), 0);
  EXPECT_EQ(axes.moved(0, 0, -1), 3);
  EXPECT_EQ(axes.moved(5, 1, 1), 9);
  EXPECT_EQ(axes.moved(5, 2, 1), 17);
}

TEST(GridAxes, BoxesHaveEvenSteps) {
  const Level square = torus({4, 4}, {true, true});
  const std::vector<std::int32_t> every_other{0, 2, 8, 10};
  const auto box = grid_box(square, 16, every_other);
  ASSERT_TRUE(box);
  EXPECT_EQ(box->axis[0].stride, 2);
  EXPECT_EQ(box->axis[1].count, 2);
  EXPECT_TRUE(box->axis[0].closes());
  EXPECT_EQ(box->axis[0].links(), 2);
  const std::vector<std::int32_t> corner{0, 1, 4};
  EXPECT_FALSE(grid_box(square, 16, corner));
  const std::vector<std::int32_t> uneven{0, 1, 3};
  EXPECT_FALSE(grid_box(square, 16, uneven));
}

TEST(GridAxes, ARingIsATorusOfOneDimension) {
  const Level ring = ring_of(6);
  const GridAxes axes = grid_axes(ring, 6);
  ASSERT_EQ(axes.size, 1U);
  EXPECT_TRUE(axes.axis[0].wraps);
  EXPECT_EQ(axes.moved(5, 0, 1), 0);
}

}  // namespace
}  // namespace nest::network
