#include "nest/cluster/imports/text_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

using testing::ElementsAre;

TEST(TextLines, LinesOfEitherSystemHaveNumbers) {
  const auto lines = lines_of("a\r\n\nb");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].text, "a");
  EXPECT_EQ(lines[2].number, 3);
  EXPECT_TRUE(lines_of("").empty());
}

TEST(TextLines, WordsAndNumbers) {
  EXPECT_THAT(words_of("  a\tb  c "), ElementsAre("a", "b", "c"));
  EXPECT_EQ(trimmed(" \ta b\r"), "a b");
  EXPECT_EQ(digits_of("042"), 42);
  EXPECT_EQ(digits_of("-1"), std::nullopt);
  EXPECT_EQ(digits_of("4x"), std::nullopt);
  EXPECT_EQ(digits_of("99999999999999999999"), std::nullopt);
  EXPECT_EQ(number_behind("NV18", "NV"), 18);
  EXPECT_EQ(number_behind("NVL", "NV"), std::nullopt);
  EXPECT_TRUE(same_letters("Default", "DEFAULT"));
  EXPECT_EQ(lower_case("GB200-NVL72"), "gb200-nvl72");
}

TEST(TextLines, EscapesOfTerminalsGo) {
  EXPECT_EQ(without_escapes("\x1b[4mGPU0\x1b[0m\tGPU1\x1b[1;31m!"), "GPU0\tGPU1!");
  EXPECT_EQ(without_escapes("a\x1b"), "a");
  EXPECT_EQ(without_escapes("a\x1b["), "a");
}

TEST(TextLines, MessagesArePrintable) {
  EXPECT_EQ(message_of([] { fail_line("f.txt", 3, "what\x01 is", "hint"); }),
            "f.txt: line 3: what? is; hint");
}

}  // namespace
}  // namespace nest::cluster
