#include "nest/base/document/toml_cursor.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/message_of.hpp"

namespace nest::base {
namespace {

const std::string kFile = "x.toml";

TEST(TomlCursor, WalksOverBlanksCommentsAndLines) {
  TomlCursor at(kFile, " \t# a comment\r\n\n  key = true # more\n");
  at.skip_lines();
  EXPECT_EQ(at.line(), 3);
  EXPECT_EQ(at.key(), "key");
  at.expect('=', "'='");
  EXPECT_EQ(at.word(), Value(true));
  at.end_of_line();
  at.skip_lines();
  EXPECT_TRUE(at.at_end());
  EXPECT_EQ(at.peek(), '\0');
}

TEST(TomlCursor, ReadsTextsOfAllFourKinds) {
  const auto text = [](const std::string& toml) { return TomlCursor(kFile, toml).quoted(); };
  EXPECT_EQ(text(R"("a\t\"b\"")"), "a\t\"b\"");
  EXPECT_EQ(text(R"('a\t')"), R"(a\t)");
  EXPECT_EQ(text("\"\"\"\r\na\nb\\  \n\n  c\"\"\"\""), "a\nbc\"");
  EXPECT_EQ(text("'''a'b'''"), "a'b");
  EXPECT_EQ(text("\"\""), "");
  EXPECT_EQ(text(R"("\U0001F600")"), "\xf0\x9f\x98\x80");
}

TEST(TomlCursor, SaysWhereItStands) {
  TomlCursor at(kFile, "\n\n\x01");
  at.skip_lines();
  EXPECT_EQ(message_of([&] { static_cast<void>(at.key()); }),
            "x.toml: line 3: not valid TOML: a key is expected");
}

}  // namespace
}  // namespace nest::base
