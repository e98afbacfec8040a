#include "nest/cluster/reduce/partitions.hpp"

#include <gtest/gtest.h>

namespace nest::cluster {
namespace {

using Numbers = std::vector<std::int32_t>;

TEST(Partitions, MakeLevelsAndAnOrderInWhichDomainsAreRanges) {
  // {0, 3} {1, 2} {4}, then {0, 3, 4} {1, 2}, then all.
  const auto c = nested("test", {{0, 1, 1, 0, 4}, {0, 1, 1, 0, 0}, {0, 0, 0, 0, 0}});
  ASSERT_TRUE(c);
  EXPECT_EQ(c->order, (Numbers{0, 3, 4, 1, 2}));
  ASSERT_EQ(c->levels.size(), 3U);
  EXPECT_EQ(c->levels[0].fan_out.sizes, (Numbers{2, 1, 2}));
  EXPECT_EQ(c->levels[1].fan_out.sizes, (Numbers{2, 1}));
  EXPECT_EQ(c->levels[2].fan_out.sizes, (Numbers{2}));
}

TEST(Partitions, ThatChangeNothingArePassedOver) {
  const auto c = nested("test", {{0, 1, 2}, {0, 0, 2}, {1, 1, 2}, {2, 2, 2}});
  ASSERT_TRUE(c);
  EXPECT_EQ(c->levels.size(), 2U);
}

TEST(Partitions, TooManyLevelsAreRefused) {
  std::vector<Labels> partitions;
  Labels labels = identity(12);
  for (std::size_t d = 1; d < labels.size(); ++d) {
    labels[d] = 0;
    partitions.push_back(labels);
  }
  EXPECT_FALSE(nested("test", partitions));
}

}  // namespace
}  // namespace nest::cluster
