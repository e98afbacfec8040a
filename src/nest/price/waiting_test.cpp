#include "nest/price/waiting.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "nest/estimate/kernels/slowest_rank.hpp"

namespace nest::price {
namespace {

TEST(Waiting, ComesBesideAndAroundAStep) {
  const Waiting waiting{1.02, Seconds{0.5}};
  EXPECT_DOUBLE_EQ(waiting.of(Seconds{10}).value, 10.7);
  EXPECT_DOUBLE_EQ(waiting.before(Seconds{10.7}).value, 10);
  EXPECT_EQ(waiting.before(Seconds::most()), Seconds::most());
}

TEST(Waiting, OneRankWaitsForNobody) {
  EXPECT_EQ(uneven_sequences(Seconds{1}, {1, 1, 8}).value, 0);
  EXPECT_EQ(uneven_sequences(Seconds{}, {4, 64, 8}).value, 0);
}

// Sums of 16 micro-batches deviate four times as much as one.
TEST(Waiting, RanksWaitForTheSlowestSum) {
  EXPECT_DOUBLE_EQ(uneven_sequences(Seconds{0.1}, {1, 64, 16}).value, 0.1 * 4 * estimate::largest_of(64));
}

// Simulated 1F1B with deviates of 10 %: 12.9 times the deviation with 4 stages and 16 micro-batches, 38.3 with 8 and
// 32, of which each stage has its share.
TEST(Waiting, StagesWaitForEachOther) {
  EXPECT_NEAR(4 * uneven_sequences(Seconds{1}, {4, 1, 16}).value, 12.9, 0.6);
  EXPECT_NEAR(8 * uneven_sequences(Seconds{1}, {8, 1, 32}).value, 38.3, 1.5);
}

}  // namespace
}  // namespace nest::price
