#include "nest/base/document/toml_word.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace nest::base {
namespace {

TEST(TomlWord, ReadsNumbersAndBooleans) {
  const auto value = [](const char* word) { return read_toml_word(word).value; };
  EXPECT_EQ(value("true"), Value(true));
  EXPECT_EQ(value("false"), Value(false));
  EXPECT_EQ(value("0"), Value(0));
  EXPECT_EQ(value("-1"), Value(-1));
  EXPECT_EQ(value("+17"), Value(17));
  EXPECT_EQ(value("1_000_000"), Value(1'000'000));
  EXPECT_EQ(value("0xdead_beef"), Value(std::int64_t{0xdeadbeef}));
  EXPECT_EQ(value("0o17"), Value(15));
  EXPECT_EQ(value("0b101"), Value(5));
  EXPECT_EQ(value("8e-4"), Value(8e-4));
  EXPECT_EQ(value("1.5"), Value(1.5));
  EXPECT_EQ(value("6.02_2e+23"), Value(6.022e23));
  EXPECT_EQ(value("-0.0"), Value(-0.0));
}

TEST(TomlWord, RefusesTheRest) {
  for (const char* word : {"012",
                           "1__0",
                           "_1",
                           "1_",
                           "1.",
                           ".5",
                           "1.e3",
                           "0x",
                           "0x-1",
                           "+-1",
                           "--1",
                           "1e999",
                           "99999999999999999999",
                           "True",
                           "yes",
                           "a1",
                           "-",
                           "+",
                           "1e",
                           "0o8"})
    EXPECT_EQ(read_toml_word(word).problem,
              "'" + std::string(word) + "' is no value: texts stand between quotes");
  EXPECT_EQ(read_toml_word("").problem, "a value is expected");
  EXPECT_EQ(read_toml_word("inf").problem, "'inf' is not read here");
  EXPECT_EQ(read_toml_word("-nan").problem, "'-nan' is not read here");
  EXPECT_EQ(read_toml_word("1979-05-27").problem, "dates and times are not read here");
  EXPECT_EQ(read_toml_word("07:32:00").problem, "dates and times are not read here");
}

}  // namespace
}  // namespace nest::base
