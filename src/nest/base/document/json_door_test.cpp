// The JSON side of document.hpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "nest/base/document/document.hpp"
#include "support/message_of.hpp"

namespace nest::base {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  return message_of([&] { static_cast<void>(parse_json("x.json", text)); });
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST(ParseJson, ReadsEveryKindOfValue) {
  const Document d = parse_json("x.json", "{\"b\": [null, true, -3, 2.5, \"t\\u00e9\"],\r\n\"a\": {}}");
  Value expected = Value::object();
  expected.set("b", Value::array().push(nullptr).push(true).push(-3).push(2.5).push("t\xc3\xa9"))
      .set("a", Value::object());
  EXPECT_EQ(d.root, expected);
  EXPECT_EQ((*d.root.as_object())[0].first, "b");  // the order of the file
}

TEST(ParseJson, ReadsLargeNumbers) {
  EXPECT_EQ(parse_json("x", "9223372036854775807").root, Value(std::int64_t{9223372036854775807}));
  EXPECT_EQ(parse_json("x", "9223372036854775808").root, Value(9223372036854775808.0));
  EXPECT_EQ(parse_json("x", "-9223372036854775809").root, Value(-9223372036854775809.0));
  EXPECT_EQ(refusal("{\"a\":\n1e999}"), "x.json: line 2: not valid JSON: the number 1e999 is too large");
}

TEST(ParseJson, RefusesAKeyGivenTwiceWithItsLine) {
  EXPECT_EQ(refusal("{\"a\": 1,\n\"a\": 2}"), "x.json: line 2: the key 'a' is given twice");
  EXPECT_EQ(refusal("{\"l\": [\n{\"a\\\"\": \"x\\\\\", \"b\": {\"a\\\"\": 1}},\n{\"c\": \":\",\n\"c\":2}]}"),
            "x.json: line 4: the key 'c' is given twice");
  std::string many = "{";
  for (int i = 0; i < 40; ++i) many += "\"k" + std::to_string(i) + "\": 1,\n";
  EXPECT_EQ(refusal(many + "\"k20\": 1}"), "x.json: line 41: the key 'k20' is given twice");
}

TEST(ParseJson, ReadsAMillionKeysQuickly) {
  std::string text = "{\"first\": 0";
  for (int i = 0; i < 300'000; ++i) text += ",\"k" + std::to_string(i) + "\":1";
  EXPECT_EQ(parse_json("x", text + "}").root.as_object()->size(), 300'001U);
}

TEST(ParseJson, BoundsTheDepth) {
  EXPECT_EQ(refusal(repeated("[", 128) + repeated("]", 128)), "(no error)");
  EXPECT_EQ(refusal(repeated("[", 129) + repeated("]", 129)), "x.json: line 1: nested more than 128 deep");
  EXPECT_EQ(refusal("[\"[\n[\",\n" + repeated("{\"a\":\n", 128) + "1"),
            "x.json: line 1: not valid JSON: a quote is not closed");
  EXPECT_EQ(refusal("[\"[[\",\n" + repeated("{\"a\":\n", 128) + "1"),
            "x.json: line 129: nested more than 128 deep");
  EXPECT_EQ(refusal(repeated("[", 10'000'000)), "x.json: line 1: nested more than 128 deep");
}

TEST(ParseJson, BoundsTheNumberOfValues) {
  std::string text = "[0";
  for (int i = 0; i < 4'000'000; ++i) text += ",0";
  EXPECT_EQ(refusal(text + "]"),
            "x.json: holds more than 4 million values, and no input of this program needs more");
}

TEST(ParseJson, SaysWhereTheTextIsNoJson) {
  EXPECT_EQ(refusal("{\"a\": 1,\n\"b\": }"),
            "x.json: line 2: not valid JSON: syntax error while parsing value - unexpected '}'; expected "
            "'[', '{', or a literal");
  EXPECT_EQ(refusal("{\"a\": 1,}"), "x.json: line 1: not valid JSON: a comma with nothing after it");
  EXPECT_EQ(refusal("[1]\n\n[2]"),
            "x.json: line 3: not valid JSON: more text after the end of the first value");
  EXPECT_EQ(refusal("{\"a\": \n"), "x.json: line 1: not valid JSON: the '{' of line 1 is not closed");
  EXPECT_EQ(refusal("[NaN]"), "x.json: line 1: not valid JSON: JSON has no NaN");
  EXPECT_EQ(refusal("[1] // note"), "x.json: line 1: not valid JSON: JSON has no comments");
}

TEST(ParseJson, QuotesOnlyTheBeginningOfALongToken) {
  const std::string message = refusal("[\"" + repeated("\xe2\x82\xac", 100'000) + "\\q");
  EXPECT_LT(message.size(), 260U);
  EXPECT_THAT(message, HasSubstr("\xe2\x82\xac..."));
}

TEST(ParseJson, RefusesAnEmptyText) {
  EXPECT_EQ(refusal(""), "x.json: the file is empty");
  EXPECT_EQ(refusal(" \r\n\t"), "x.json: the file is empty");
  EXPECT_EQ(refusal("\xef\xbb\xbf\n"), "x.json: the file is empty");
}

TEST(ParseJson, PassesOverAByteOrderMark) {
  const Document d = parse_json("x", "\xef\xbb\xbf{\n\"a\": 1}");
  EXPECT_EQ(d.root, Value::object().set("a", 1));
  EXPECT_EQ(d.line_of({"a"}), 2);
}

TEST(ParseJson, RefusesWhatIsNoUtf8) {
  EXPECT_EQ(refusal("[1,\n\"a\xff\"]"), "x.json: line 2: not valid UTF-8; save the file as UTF-8");
  EXPECT_EQ(refusal("\xff\xfe[1"), "x.json: line 1: not valid UTF-8; save the file as UTF-8");
  EXPECT_THAT(refusal("[\"\\ud800\"]"), HasSubstr("surrogate"));
}

TEST(ParseJson, DoesNotStopAtANulByte) {
  EXPECT_EQ(refusal(std::string("[1]\n\0 and more", 14)), "x.json: is a binary file, not JSON or YAML");
  EXPECT_EQ(refusal("[1]\n" + std::string(5000, ' ') + std::string("\0 and more", 10)),
            "x.json: line 2: not valid JSON: a NUL byte");
}

}  // namespace
}  // namespace nest::base
