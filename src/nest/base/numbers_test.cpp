#include "nest/base/numbers.hpp"

#include <gtest/gtest.h>

namespace nest::base {
namespace {

TEST(Numbers, AreReadAsPeopleTypeThem) {
  EXPECT_EQ(parse_whole("131,072"), 131'072);
  EXPECT_EQ(parse_whole("1_000_000"), 1'000'000);
  EXPECT_EQ(parse_whole("-2"), -2);
  for (const char* text : {"1,2", "1,0000", ",100", "", "1.5", "8x", "99999999999999999999"})
    EXPECT_FALSE(parse_whole(text)) << text;
  EXPECT_EQ(parse_number("5e5"), 5e5);
  for (const char* text : {"", "x", "1e999", "inf", "1 "}) EXPECT_FALSE(parse_number(text)) << text;
  EXPECT_EQ(parse_share("2 %"), 0.02);
  EXPECT_EQ(parse_share("0.02"), 0.02);
  for (const char* text : {"", "%", "2x"}) EXPECT_FALSE(parse_share(text)) << text;
}

TEST(Numbers, LengthsHaveBinarySuffixes) {
  EXPECT_EQ(parse_length("8192"), 8192);
  EXPECT_EQ(parse_length("131,072"), 131'072);
  EXPECT_EQ(parse_length("8k"), 8'192);
  EXPECT_EQ(parse_length("128K"), 131'072);
  EXPECT_EQ(parse_length("1 M"), 1'048'576);
  EXPECT_EQ(parse_length("1.5K"), 1'536);
  for (const char* text : {"", "K", "1.0001K", "8KB", "1e30M", "x"}) EXPECT_FALSE(parse_length(text)) << text;
}

TEST(Percent, HasOneDigitUnlessOthersAreAskedFor) {
  EXPECT_EQ(format_percent(0.1234), "12.3 %");
  EXPECT_EQ(format_percent(0.1234, 0), "12 %");
  EXPECT_EQ(format_percent(0), "0.0 %");
}

TEST(Percent, KeepsTheDigitsOfSmallShares) {
  EXPECT_EQ(format_small_percent(0.000123456, 3), "0.0123 %");
  EXPECT_EQ(format_small_percent(0.25, 3), "25 %");
  EXPECT_EQ(format_small_percent(1e-9, 2), "1e-07 %");
}

TEST(Percent, SaysWhetherMoreOrLess) {
  EXPECT_EQ(format_signed_percent(0.02), "+2.0 %");
  EXPECT_EQ(format_signed_percent(-0.0213), "-2.1 %");
}

}  // namespace
}  // namespace nest::base
