#include "nest/base/percent.hpp"

#include <gtest/gtest.h>

namespace nest::base {
namespace {

TEST(Percent, HasOneDigitUnlessOthersAreAskedFor) {
  EXPECT_EQ(format_percent(0.1234), "12.3 %");
  EXPECT_EQ(format_percent(0.1234, 0), "12 %");
  EXPECT_EQ(format_percent(0), "0.0 %");
}

TEST(Percent, SaysWhetherMoreOrLess) {
  EXPECT_EQ(format_signed_percent(0.02), "+2.0 %");
  EXPECT_EQ(format_signed_percent(-0.0213), "-2.1 %");
}

}  // namespace
}  // namespace nest::base
