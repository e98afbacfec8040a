#include "nest/base/document/mismatch.hpp"

#include <gtest/gtest.h>

namespace nest::base {
namespace {

TEST(Mismatch, NumbersAreShownAsTheyAreWritten) {
  const auto written = [](const std::string& text) {
    const Document d = parse_document("x", text);
    return as_written(d, {"n"}, *d.root.find("n"));
  };
  EXPECT_EQ(written("n: 1e18"), "1e18");
  EXPECT_EQ(written("{\"m\": 7,\n\"n\": 123456789012345678901234567890}"), "123456789012345678901234567890");
  EXPECT_EQ(written("{\"n\":\n1E+18}"), "1e+18");              // on another line than its key
  EXPECT_EQ(written("n: 1" + std::string(50, '0')), "1e+50");  // too long to show
  EXPECT_EQ(written("{m: -1000, n: 1_0, o: 2}"), "\"1_0\"");   // no number at all
}

TEST(Mismatch, TextsThatAreNearlyNumbersGetAHint) {
  const Mismatch quotes = mismatch("a number", Value("2.5"), true);
  EXPECT_EQ(quotes.what + "; " + quotes.hint, "a number is expected, not the text '2.5'; remove the quotes");
  const Mismatch commas = mismatch("a whole number", Value("8,000"), false);
  EXPECT_EQ(commas.what + "; " + commas.hint, "a whole number is expected, not '8,000'; write 8000");
  EXPECT_EQ(mismatch("true or false", Value("1,0"), false).hint, "");
}

TEST(Mismatch, WholeNumbersMayHaveExponents) {
  EXPECT_EQ(exact_whole(Value(4096.0)), 4096);
  EXPECT_EQ(exact_whole(Value(1e18)), 1'000'000'000'000'000'000);
  EXPECT_EQ(exact_whole(Value(1e30)), std::nullopt);
  EXPECT_EQ(exact_whole(Value(0.5)), std::nullopt);
  EXPECT_EQ(exact_whole(Value("5")), std::nullopt);
}

TEST(Mismatch, ACommaInANumberMakesKeysOfDigits) {
  const auto hint = [](const std::string& yaml, const std::string& key) {
    return comma_hint(*parse_yaml("x", yaml).root.as_object(), key);
  };
  EXPECT_EQ(hint("{name: x, size: 8,000}", "000"), "a comma inside a number? write 8000");
  EXPECT_EQ(hint("{size: 8,123,000}", "123"), "a comma inside a number? write 8123");
  EXPECT_EQ(hint("{name: x, 000: 1}", "000"), "a comma inside a number?");
}

}  // namespace
}  // namespace nest::base
