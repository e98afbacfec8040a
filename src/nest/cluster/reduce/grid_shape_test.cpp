#include "nest/cluster/reduce/grid_shape.hpp"

#include <gtest/gtest.h>

#include "nest/cluster/reduce/test_networks.hpp"

namespace nest::cluster {
namespace {

using testing_networks::empty;
using testing_networks::grid;
using testing_networks::link;
using Dims = std::vector<std::int32_t>;

TEST(GridShape, FindsTheSidesOfToriAndMeshes) {
  for (const Dims& dims : {Dims{8}, Dims{8, 8}, Dims{4, 4, 8}, Dims{2, 4}, Dims{16, 16}, Dims{3, 5, 7}}) {
    for (const bool wrap : {true, false}) {
      const auto shape = grid_shape(grid(dims, wrap, 50e9, 1e-6));
      ASSERT_TRUE(shape);
      EXPECT_EQ(shape->dims, dims);
      for (std::size_t d = 0; d < dims.size(); ++d) EXPECT_EQ(shape->wrap[d], wrap && dims[d] > 2);
      EXPECT_TRUE(shape->same_links);
    }
  }
}

TEST(GridShape, RefusesWhatIsNoGrid) {
  NetworkGraph extra = grid({4, 4}, true, 50e9, 1e-6);
  link(extra, 0, 10, 50e9, 1e-6);
  EXPECT_FALSE(grid_shape(extra));
  NetworkGraph uneven = grid({4, 4}, true, 50e9, 1e-6);
  uneven.links[3].bandwidth = BytesPerSecond{40e9};
  EXPECT_FALSE(grid_shape(uneven));
  NetworkGraph star = empty(4, 1);
  for (std::int32_t d = 0; d < 4; ++d) link(star, d, 4, 50e9, 1e-6);
  EXPECT_FALSE(grid_shape(star));
}

TEST(GridShape, DimensionsMayDifferInTheirLinks) {
  NetworkGraph g = grid({4, 4}, true, 50e9, 1e-6);
  for (Link& l : g.links) {
    if ((l.b - l.a) % 4 == 0) l.bandwidth = BytesPerSecond{25e9};
  }
  const auto shape = grid_shape(g);
  ASSERT_TRUE(shape);
  EXPECT_FALSE(shape->same_links);
}

}  // namespace
}  // namespace nest::cluster
