#include "nest/base/plain_text.hpp"

#include <gtest/gtest.h>

#include <string>

#include "support/message_of.hpp"

namespace nest::base {
namespace {

std::string refusal(const std::string& text) {
  return message_of([&] { refuse_unreadable("x.yaml", text, "JSON or YAML"); });
}

TEST(PlainText, KnowsControlCharacters) {
  for (const char* text : {"a\nb", "\x1b[31m", "\x7f", "\xc2\x9b", "tab\t"}) {
    EXPECT_TRUE(has_control(text)) << text;
  }
  for (const char* text : {"", "a b", "\xc3\xa9", "\xe2\x82\xac", "\xc2\xa0"}) {
    EXPECT_FALSE(has_control(text)) << text;
  }
  EXPECT_EQ(printable("a\nb\xc2\x9b\x1b\xc3\xa9"), "a?b??\xc3\xa9");
}

TEST(PlainText, ListsWords) {
  EXPECT_EQ(list_words({}), "");
  EXPECT_EQ(list_words({"a"}), "a");
  EXPECT_EQ(list_words({"a", "b"}), "a and b");
  EXPECT_EQ(list_words({"a", "b", "c"}, "or"), "a, b or c");
}

TEST(PlainText, RefusesBinaryFiles) {
  EXPECT_EQ(refusal(std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16)),
            "x.yaml: is a binary file, not JSON or YAML");
  EXPECT_EQ(refusal("\x01\x02\x03 abc"), "x.yaml: is a binary file, not JSON or YAML");
  EXPECT_EQ(refusal(std::string("\xff\xfe{\0\"\0", 6)), "x.yaml: is UTF-16 text; save it as UTF-8");
  EXPECT_EQ(refusal("name: x \x1b[0m and a long line of text"), "(no error)");  // one is no binary file
  EXPECT_EQ(refusal(""), "(no error)");
}

TEST(PlainText, FindsTheLineThatIsNoUtf8) {
  EXPECT_EQ(refusal("name: x\nnote: a\xff\n"), "x.yaml: line 2: not valid UTF-8; save the file as UTF-8");
  EXPECT_EQ(refusal("\xc3"), "x.yaml: line 1: not valid UTF-8; save the file as UTF-8");
  EXPECT_EQ(refusal("name: \xe2\x82\xac\xf0\x9f\x98\x80\n"), "(no error)");
}

TEST(PlainText, AppendsCharactersOfEveryLength) {
  std::string text;
  for (const unsigned code : {0x41U, 0xE9U, 0x20ACU, 0x1F600U}) append_utf8(text, code);
  EXPECT_EQ(text, "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
}

TEST(PlainText, JoinsWords) {
  EXPECT_EQ(joined({}, ", "), "");
  EXPECT_EQ(joined({"a"}, ", "), "a");
  EXPECT_EQ(joined({"a", "b"}, ", "), "a, b");
  EXPECT_EQ(joined({"", "b"}), "b");
}

TEST(PlainText, TrimsBlanks) {
  EXPECT_EQ(trimmed(" \ta b\r"), "a b");
  EXPECT_EQ(trimmed(" \t\r"), "");
  EXPECT_EQ(trimmed("\ta ", " "), "\ta");
}

TEST(PlainText, LettersInEitherCase) {
  EXPECT_EQ(lower_case("GB200-NVL72 \xc3\x84"), "gb200-nvl72 \xc3\x84");
  EXPECT_TRUE(same_letters("Default", "DEFAULT"));
  EXPECT_FALSE(same_letters("Default", "DEFAULTS"));
}

}  // namespace
}  // namespace nest::base
