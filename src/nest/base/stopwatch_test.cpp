#include "nest/base/stopwatch.hpp"

#include <gtest/gtest.h>

namespace nest::base {
namespace {

TEST(Stopwatch, NeverRunsBackwards) {
  const Stopwatch watch;
  const Seconds first = watch.elapsed();
  EXPECT_GE(first, Seconds{0});
  EXPECT_GE(watch.elapsed(), first);
}

TEST(Stopwatch, LapsAreNotLongerThanTheWhole) {
  const Stopwatch whole;
  Stopwatch laps;
  const Seconds sum = laps.lap() + laps.lap();
  EXPECT_GE(sum, Seconds{0});
  EXPECT_LE(sum, whole.elapsed());
}

}  // namespace
}  // namespace nest::base
