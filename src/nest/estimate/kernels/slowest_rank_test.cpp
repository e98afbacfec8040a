#include "nest/estimate/kernels/slowest_rank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace nest::estimate {
namespace {

TEST(SlowestRank, NothingInsideANodeAndNeverLessWithMore) {
  EXPECT_EQ(slowest_rank(1), 0);
  EXPECT_EQ(slowest_rank(8), 0);
  double last = 0;
  for (std::int64_t n = 9; n <= 200'000; n += 1 + n / 7) {
    EXPECT_GT(slowest_rank(n), last) << n;
    last = slowest_rank(n);
  }
  EXPECT_LT(last, 4);
}

// Drawn: 4,000 times the largest of n deviates.
TEST(SlowestRank, AsDrawn) {
  std::mt19937_64 random(42);
  std::normal_distribution<double> deviate;
  const auto drawn = [&](int n) {
    double sum = 0;
    for (int i = 0; i < 4000; ++i) {
      double most = -10;
      for (int k = 0; k < n; ++k) most = std::max(most, deviate(random));
      sum += most;
    }
    return sum / 4000;
  };
  const double node = drawn(8);
  for (const int n : {16, 64, 512}) EXPECT_NEAR(slowest_rank(n), drawn(n) - node, 0.04) << n;
}

}  // namespace
}  // namespace nest::estimate
