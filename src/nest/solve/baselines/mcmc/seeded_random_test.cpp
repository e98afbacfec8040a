#include "nest/solve/baselines/mcmc/seeded_random.hpp"

#include <gtest/gtest.h>

namespace nest::solve {
namespace {

TEST(SeededRandom, IsTheSameEverywhere) {
  SeededRandom standard(5489);  // the standard states the 10,000th number of this seed
  std::int64_t last = 0;
  for (int i = 0; i < 10'000; ++i) last = standard.below(1'000'000'007);
  EXPECT_EQ(last, static_cast<std::int64_t>(9981545732273789042ULL % 1'000'000'007));
}

TEST(SeededRandom, StaysInItsRange) {
  SeededRandom random(3);
  std::vector<int> seen(6);
  double sum = 0;
  for (int i = 0; i < 6'000; ++i) {
    ++seen[static_cast<std::size_t>(random.below(6))];
    const double u = random.unit();
    ASSERT_TRUE(u >= 0 && u < 1);
    sum += u;
  }
  for (const int n : seen) EXPECT_NEAR(n, 1'000, 150);
  EXPECT_NEAR(sum / 6'000, 0.5, 0.02);
}

TEST(SeededRandom, FollowsItsSeed) {
  SeededRandom a(1);
  SeededRandom b(1);
  SeededRandom c(2);
  bool differ = false;
  for (int i = 0; i < 20; ++i) {
    const std::int64_t x = a.below(1'000);
    EXPECT_EQ(x, b.below(1'000));
    differ = differ || x != c.below(1'000);
  }
  EXPECT_TRUE(differ);
}

}  // namespace
}  // namespace nest::solve
