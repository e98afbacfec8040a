#include "nest/solve/table/memory_budget.hpp"

#include <gtest/gtest.h>

namespace nest::solve {
namespace {

constexpr std::int64_t kChunk = MemoryShare::kChunk;

TEST(MemoryBudget, ATableThatTakesMoreThanIsLeftIsBrokenOff) {
  MemoryBudget budget(Bytes{10 * kChunk});
  MemoryShare share(&budget);
  share.change(10 * kChunk);
  EXPECT_THROW(share.change(kChunk), TableTooLarge);
}

TEST(MemoryBudget, TablesShareItAndGiveBackWhatTheyTook) {
  MemoryBudget budget(Bytes{10 * kChunk});
  MemoryShare first(&budget);
  first.change(6 * kChunk);
  {
    MemoryShare second(&budget);
    EXPECT_THROW(second.change(5 * kChunk), TableTooLarge);
  }
  MemoryShare third(&budget);
  EXPECT_NO_THROW(third.change(4 * kChunk));
  first = MemoryShare(&budget);
  EXPECT_NO_THROW(third.change(6 * kChunk));
}

TEST(MemoryBudget, WhatIsHeldCounts) {
  MemoryBudget budget(Bytes{10 * kChunk});
  budget.hold(Bytes{9 * kChunk});
  EXPECT_FALSE(budget.full());
  EXPECT_THROW(MemoryShare(&budget).change(2 * kChunk), TableTooLarge);
  budget.hold(Bytes{11 * kChunk});
  EXPECT_TRUE(budget.full());
}

TEST(MemoryBudget, SmallChangesAddUp) {
  MemoryBudget budget(Bytes{2 * kChunk});
  MemoryShare share(&budget);
  int steps = 0;
  const auto fill = [&] {
    for (; steps < 100; ++steps) share.change(kChunk / 4);
  };
  EXPECT_THROW(fill(), TableTooLarge);
  EXPECT_EQ(steps, 11);  // the twelfth quarter makes three chunks
}

TEST(MemoryBudget, WithoutABudgetThereIsNoEnd) {
  MemoryShare share;
  EXPECT_NO_THROW(share.change(std::int64_t{1} << 60));
}

}  // namespace
}  // namespace nest::solve
