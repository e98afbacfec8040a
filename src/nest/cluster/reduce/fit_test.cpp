#include "nest/cluster/reduce/fit.hpp"

#include <gtest/gtest.h>

namespace nest::cluster {
namespace {

TEST(Fit, TheFigureInTheMiddleErrsLeast) {
  // Three devices in one level with 10, 20 and 30: 2 * 10 * 30 / 40 = 15, off by 50 % at both ends.
  PairTable table(3);
  table.at(1, 0) = {10, 2e-6};
  table.at(2, 0) = {20, 2e-6};
  table.at(2, 1) = {30, 2e-6};
  const Fitted f = fit_levels(flat(3), table, {"a", "b", "c"}, "test", find_accelerator("h100-sxm"));
  EXPECT_DOUBLE_EQ(f.cluster.levels()[0].bandwidth.value, 15);
  EXPECT_EQ(f.cluster.levels()[0].latency.value, 2e-6);
  EXPECT_DOUBLE_EQ(f.worst_error, 0.5);
  EXPECT_DOUBLE_EQ(f.mean_error, (0.5 + 0.25 + 0.5) / 3);
  ASSERT_TRUE(f.levels[0].worst);
  EXPECT_EQ(f.levels[0].worst->a, "a");
  EXPECT_EQ(f.levels[0].worst->b, "b");
  EXPECT_EQ(f.levels[0].worst->truth.bandwidth, 10);
  EXPECT_EQ(f.levels[0].worst->said.bandwidth, 15);
  EXPECT_EQ(f.levels[0].worst_latency_error, 0);
}

TEST(Fit, RoundingAlongPathsIsNoError) {
  PairTable table(3);
  table.at(1, 0) = {10, 0.1 + 0.2};
  table.at(2, 0) = {10, 0.3};
  table.at(2, 1) = {10, 0.3};
  const Fitted f = fit_levels(flat(3), table, {"a", "b", "c"}, "test", find_accelerator("h100-sxm"));
  EXPECT_EQ(f.worst_error, 0);
  EXPECT_EQ(f.cluster.levels()[0].latency.value, 0.3);
}

TEST(Fit, ATruthOfZeroIsMetOrMissed) {
  EXPECT_EQ(relative_error(0, 0), 0);
  EXPECT_EQ(relative_error(1, 0), 1);
  EXPECT_DOUBLE_EQ(relative_error(3, 2), 0.5);
}

}  // namespace
}  // namespace nest::cluster
