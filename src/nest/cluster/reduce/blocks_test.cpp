#include <gtest/gtest.h>

#include "nest/cluster/reduce/candidates.hpp"
#include "nest/cluster/reduce/paths.hpp"
#include "nest/cluster/reduce/test_networks.hpp"

namespace nest::cluster {
namespace {

using testing_networks::grid;
using Sizes = std::vector<std::int32_t>;

TEST(Blocks, KeepWhatIsNearTogether) {
  // A line of eight: within one hop pairs, within two hops fours or less, and so on.
  const auto c = by_blocks(pair_figures(grid({8}, false, 1e9, 1e-6)));
  ASSERT_TRUE(c);
  EXPECT_EQ(c->levels[0].fan_out.sizes, (Sizes{2, 2, 2, 2}));
  EXPECT_GE(c->levels.size(), 2U);
}

TEST(Blocks, NoTwoDevicesOfABlockAreFurtherApartThanItsLevelAllows) {
  const PairTable table = pair_figures(grid({6, 5}, true, 1e9, 1e-6));
  const auto c = by_blocks(table);
  ASSERT_TRUE(c);
  std::vector<FanOut> fan_outs;
  for (const Level& level : c->levels) fan_outs.push_back(level.fan_out);
  const DeviceTree tree(fan_outs);
  // Allowed slowness is 1, 2, 4, .. hops; levels that change nothing are passed over, so level l allows at
  // least 2^l.
  for (std::int32_t i = 0; i < 30; ++i) {
    for (std::int32_t j = 0; j < i; ++j) {
      if (tree.domain_of(DeviceId{i}, LevelId{0}) != tree.domain_of(DeviceId{j}, LevelId{0})) continue;
      const auto a = c->order[static_cast<std::size_t>(i)];
      const auto b = c->order[static_cast<std::size_t>(j)];
      EXPECT_LE(table.at(a, b).latency, 1.001e-6);
    }
  }
}

}  // namespace
}  // namespace nest::cluster
