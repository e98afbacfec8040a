#include "nest/base/deadline.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace nest::base {
namespace {

TEST(Deadline, WithoutALimitOnlyACancelEndsIt) {
  const Deadline deadline;
  EXPECT_FALSE(deadline.limited());
  EXPECT_FALSE(deadline.left());
  EXPECT_FALSE(deadline.over());
  EXPECT_NO_THROW(deadline.look());
  deadline.cancel();
  EXPECT_TRUE(deadline.over());
  EXPECT_TRUE(deadline.late());
  EXPECT_THROW(deadline.look(), Stopped);
  EXPECT_THROW(deadline.glance(), Stopped);
}

TEST(Deadline, CopiesAndPartsAreCancelledTogether) {
  const Deadline whole;
  const Deadline copy = whole;
  const Deadline part = whole.within(Seconds{1000});
  EXPECT_FALSE(part.over());
  std::thread([flag = whole.flag()] { *flag = true; }).join();
  EXPECT_TRUE(copy.cancelled());
  EXPECT_TRUE(part.late());
  EXPECT_EQ(part.left(), Seconds{0});
}

TEST(Deadline, AtTheLimitNothingIsBegunAndWhatIsUnderWayHasAMoment) {
  const Deadline deadline(Seconds{0});
  EXPECT_TRUE(deadline.over());
  EXPECT_FALSE(deadline.cancelled());
  EXPECT_EQ(deadline.left(), Seconds{0});
  // A part has no moment of its own.
  EXPECT_TRUE(Deadline().within(Seconds{0}).late());
}

TEST(Deadline, APartEndsNoLaterThanTheWhole) {
  const Deadline whole(Seconds{1000});
  EXPECT_LE(*whole.within(Seconds{5000}).left(), Seconds{1000});
  EXPECT_LE(*whole.within(Seconds{10}).left(), Seconds{10});
  EXPECT_LE(*Deadline().within(Seconds{10}).left(), Seconds{10});
  EXPECT_TRUE(Deadline(Seconds{0}).within(Seconds{10}).over());
}

TEST(Deadline, BeginsLaterThanItsCopies) {
  Deadline job;
  const Deadline before = job;
  job.begin(Seconds{0});
  EXPECT_TRUE(job.over());
  EXPECT_FALSE(before.over());
  job.cancel();
  EXPECT_TRUE(before.over());
}

TEST(Deadline, EndlessLimitsAreLongOnes) {
  EXPECT_FALSE(Deadline(Seconds{1e300}).over());
  EXPECT_TRUE(Deadline(Seconds{-1}).over());
}

// The clock is looked at in one glance of kGlances.
TEST(Deadline, GlancesSeeTheClockSoon) {
  const Deadline deadline = Deadline().within(Seconds{0});
  unsigned seen = 0;
  try {
    while (seen < 2 * Deadline::kGlances) {
      ++seen;
      deadline.glance();
    }
  } catch (const Stopped&) {
  }
  EXPECT_LE(seen, Deadline::kGlances);
}

}  // namespace
}  // namespace nest::base
