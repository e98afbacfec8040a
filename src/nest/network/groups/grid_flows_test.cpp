#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>

#include "nest/network/groups/group_grid.hpp"
#include "nest/network/groups/test_grids.hpp"

namespace nest::network {
namespace {

using test_grids::first;
using test_grids::torus;
using testing::ElementsAre;

// What the busiest link carries, in units of the bandwidth of a device.
double busiest(const Level& level, std::int32_t children, std::span<const GridFlow> flows) {
  std::map<std::pair<std::int32_t, std::int32_t>, double> loads;
  double most = 0;
  for (const GridFlow& flow : flows) {
    double& load = loads[{flow.from, flow.to}];
    load += flow.share;
    most = std::max(most, load);
  }
  return most * level.links(children);
}

TEST(GridFlows, MessagesGoDimensionByDimensionTheShorterWay) {
  const Level t = torus({4, 4}, {true, true});
  EXPECT_THAT(grid_message(t, 16, 0, 5), ElementsAre(GridFlow{0, 1, 1}, GridFlow{1, 5, 1}));
  EXPECT_THAT(grid_message(t, 16, 0, 3), ElementsAre(GridFlow{0, 3, 1}));
  EXPECT_THAT(grid_message(torus({4, 4}, {false, false}), 16, 0, 3),
              ElementsAre(GridFlow{0, 1, 1}, GridFlow{1, 2, 1}, GridFlow{2, 3, 1}));
  EXPECT_THAT(grid_message(t, 16, 0, 2), ElementsAre(GridFlow{0, 3, 0.5}, GridFlow{3, 2, 0.5},
                                                     GridFlow{0, 1, 0.5}, GridFlow{1, 2, 0.5}));
}

// A ring of two has two links between its neighbours, of which each takes half.
TEST(GridFlows, ARingOfTwo) {
  EXPECT_THAT(grid_message(torus({2}, {true}), 2, 0, 1), ElementsAre(GridFlow{0, 1, 0.5}));
  EXPECT_THAT(grid_rings(torus({2}, {true}), 2, first(2)),
              ElementsAre(GridFlow{0, 1, 0.5}, GridFlow{1, 0, 0.5}));
}

// The busiest link of a group's flows takes as long as the price of the group alone; interleaved groups, all together,
// as long as the price that knows of its siblings.
TEST(GridFlows, TakeWhatTheyArePricedAt) {
  constexpr unsigned kSeed = 20261119;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  const auto pick = [&](std::int32_t from, std::int32_t to) {
    return std::uniform_int_distribution<std::int32_t>(from, to)(random);
  };
  for (int n = 0; n < 2000; ++n) {
    std::vector<std::int32_t> dims;
    std::vector<bool> wrap;
    for (std::int32_t d = pick(1, 3); d > 0; --d) {
      dims.push_back(pick(2, 6));
      wrap.push_back(pick(0, 1) == 1);
    }
    const Level level = torus(dims, wrap);
    const std::int32_t children = level.fan_out.size;
    // A box of whole lines of the first dimensions, and all groups that lie beside it.
    std::int32_t apart = 1;
    const std::int32_t cut = pick(0, static_cast<std::int32_t>(dims.size()) - 1);
    for (std::int32_t d = 0; d < cut; ++d) apart *= dims[static_cast<std::size_t>(d)];
    std::vector<GridFlow> together;
    std::vector<std::int32_t> at;
    for (std::int32_t group = 0; group < apart; ++group) {
      at.clear();
      for (std::int32_t child = group; child < children; child += apart) at.push_back(child);
      if (at.size() < 2) continue;
      const GridShare alone = grid_share(level, children, at, false);
      const std::vector<GridFlow> rings = grid_rings(level, children, at);
      EXPECT_NEAR(busiest(level, children, rings), 1 / alone.fraction, 1e-9);
      const double exchange = busiest(level, children, grid_exchange(level, children, at));
      EXPECT_NEAR(std::max(exchange, 1 - 1 / static_cast<double>(at.size())), alone.exchange, 1e-9);
      together.insert(together.end(), rings.begin(), rings.end());
    }
    if (at.size() < 2) continue;
    EXPECT_NEAR(busiest(level, children, together), 1 / grid_share(level, children, at, true).fraction, 1e-9);
  }
}

}  // namespace
}  // namespace nest::network
