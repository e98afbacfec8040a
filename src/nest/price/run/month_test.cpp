#include "nest/price/run/month.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace nest::price {
namespace {

// Long after the beginning one node is down for repair / (between + repair) of the time: 1 of 10 hours.
TEST(Month, OneNodeInTheLongRun) {
  const std::vector<double> shares =
      down_shares({.nodes = 1, .between = Seconds{9 * 3600}, .repair = Seconds{3600}}, 1, Seconds{1e10});
  EXPECT_NEAR(shares[0], 0.9, 1e-3);
  EXPECT_NEAR(shares[1], 0.1, 1e-3);
}

// By hand, of one node: the average of a (1 - exp(-r t)) over T is a (1 - (1 - exp(-r T)) / (r T)).
TEST(Month, OneNodeFromTheBeginning) {
  const double between = 1e6;
  const double repair = 1e5;
  const double r = 1 / between + 1 / repair;
  const double rt = r * kMonth.value;
  const double down = repair / (between + repair) * (1 - (1 - std::exp(-rt)) / rt);
  const std::vector<double> shares =
      down_shares({.nodes = 1, .between = Seconds{between}, .repair = Seconds{repair}}, 1);
  EXPECT_NEAR(shares[1], down, 1e-7);
  EXPECT_NEAR(shares[0], 1 - down, 1e-7);
}

TEST(Month, SharesOfAllNodesAddUp) {
  const std::vector<double> shares =
      down_shares({.nodes = 5, .between = Seconds{1e5}, .repair = Seconds{1e5}}, 5);
  EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-9);
  // Both states are as likely in the end: near the binomial 1/32, 5/32, 10/32.
  EXPECT_NEAR(shares[2], 10 / 32.0, 0.03);
}

TEST(Month, Limits) {
  EXPECT_NEAR(down_shares({.nodes = 8, .between = Seconds::most(), .repair = Seconds{1}}, 1)[0], 1, 1e-12);
  EXPECT_NEAR(down_shares({.nodes = 8, .between = Seconds{1e5}, .repair = Seconds{0}}, 1)[0], 1, 1e-12);
  EXPECT_EQ(down_shares({.nodes = 1, .between = Seconds{1e5}, .repair = Seconds{1e5}}, 3)[3], 0);
  const std::vector<double> many =
      down_shares({.nodes = 16'384, .between = Seconds{1.8e8 / 8}, .repair = Seconds{86'400}}, 3);
  for (const double share : many) EXPECT_TRUE(share >= 0 && share < 0.1);
}

}  // namespace
}  // namespace nest::price
