#include "nest/network/groups/grid_axes.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace nest::network {
namespace {

Level grid(std::vector<std::int32_t> dims, std::vector<bool> wrap) {
  Level out{.name = "slice", .kind = LevelKind::torus, .dims = std::move(dims), .wrap = std::move(wrap)};
  out.fan_out.size = std::accumulate(out.dims.begin(), out.dims.end(), 1, std::multiplies<>());
  return out;
}

TEST(GridAxes, ChildrenHaveCoordinates) {
  const GridAxes axes = grid_axes(grid({4, 3, 2}, {true, false, true}), 24);
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
  const Level torus = grid({4, 4}, {true, true});
  const std::vector<std::int32_t> every_other{0, 2, 8, 10};
  const auto box = grid_box(torus, 16, every_other);
  ASSERT_TRUE(box);
  EXPECT_EQ(box->axis[0].stride, 2);
  EXPECT_EQ(box->axis[1].count, 2);
  EXPECT_TRUE(box->axis[0].closes());
  EXPECT_EQ(box->axis[0].links(), 2);
  const std::vector<std::int32_t> corner{0, 1, 4};
  EXPECT_FALSE(grid_box(torus, 16, corner));
  const std::vector<std::int32_t> uneven{0, 1, 3};
  EXPECT_FALSE(grid_box(torus, 16, uneven));
}

TEST(GridAxes, ARingIsATorusOfOneDimension) {
  Level ring{.name = "ring", .kind = LevelKind::ring};
  ring.fan_out.size = 6;
  const GridAxes axes = grid_axes(ring, 6);
  ASSERT_EQ(axes.size, 1U);
  EXPECT_TRUE(axes.axis[0].wraps);
  EXPECT_EQ(axes.moved(5, 0, 1), 0);
}

}  // namespace
}  // namespace nest::network
