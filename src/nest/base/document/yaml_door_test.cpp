// The YAML side of document.hpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "nest/base/document/document.hpp"
#include "support/message_of.hpp"

namespace nest::base {
namespace {

using ::testing::StartsWith;

std::string refusal(const std::string& text) {
  return message_of([&] { static_cast<void>(parse_yaml("x.yaml", text)); });
}

Value scalar(const std::string& text) {
  return *parse_yaml("x.yaml", "a: " + text).root.find("a");
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST(ParseYaml, ReadsScalarsByTheCoreSchema) {
  for (const char* text : {"", "~", "null", "Null", "NULL"}) EXPECT_EQ(scalar(text), Value()) << text;
  for (const char* text : {"true", "True", "TRUE"}) EXPECT_EQ(scalar(text), Value(true)) << text;
  for (const char* text : {"false", "False", "FALSE"}) EXPECT_EQ(scalar(text), Value(false)) << text;
  for (const char* text :
       {"yes", "no", "on", "off", "nan", ".inf", "inf", "+-5", "+", "1_000", "5 us", "1.2.3", "0x10"}) {
    EXPECT_EQ(scalar(text), Value(text)) << text;
  }
  EXPECT_EQ(scalar("8"), Value(8));
  EXPECT_EQ(scalar("+8"), Value(8));
  EXPECT_EQ(scalar("-8"), Value(-8));
  EXPECT_EQ(scalar("1e3"), Value(1000.0));
  EXPECT_EQ(scalar("+.5"), Value(0.5));
  EXPECT_EQ(scalar("9223372036854775808"), Value(9223372036854775808.0));
  EXPECT_EQ(scalar("1e999"), Value("1e999"));
}

TEST(ParseYaml, KeepsQuotedScalarsAsTexts) {
  EXPECT_EQ(scalar("\"8\""), Value("8"));
  EXPECT_EQ(scalar("'true'"), Value("true"));
  EXPECT_EQ(scalar("!!str 8"), Value("8"));
  EXPECT_EQ(scalar("|\n  two\n  lines\n"), Value("two\nlines\n"));
}

TEST(ParseYaml, ReadsGroupsListsAndAliases) {
  const Document d = parse_yaml("x.yaml", "base: &b {x: 1}\nlist:\n  - *b\n  - [2, y]\n");
  Value expected = Value::object();
  expected.set("base", Value::object().set("x", 1))
      .set("list", Value::array().push(Value::object().set("x", 1)).push(Value::array().push(2).push("y")));
  EXPECT_EQ(d.root, expected);
  EXPECT_FALSE(d.is_json);
}

TEST(ParseYaml, RefusesAKeyGivenTwiceWithItsLine) {
  EXPECT_EQ(refusal("a: 1\nb: 2\na: 3\n"), "x.yaml: line 3: the key 'a' is given twice");
  EXPECT_EQ(refusal("l:\n  - {a: 1,\n     a: 2}"), "x.yaml: line 3: the key 'a' is given twice");
  std::string many;
  for (int i = 0; i < 40; ++i) many += "k" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(refusal(many + "k20: 1\n"), "x.yaml: line 41: the key 'k20' is given twice");
}

TEST(ParseYaml, RefusesKeysThatAreNoText) {
  EXPECT_EQ(refusal("a: 1\n? [1, 2]\n: x\n"), "x.yaml: line 2: a key must be a plain text");
}

TEST(ParseYaml, BoundsTheDepth) {
  EXPECT_EQ(refusal("a: " + repeated("[", 127) + repeated("]", 127)), "(no error)");
  EXPECT_EQ(refusal("\na: " + repeated("[", 128) + "1" + repeated("]", 128)),
            "x.yaml: line 2: nested more than 128 deep");
  EXPECT_EQ(refusal("a: " + repeated("[", 100'000)), "x.yaml: line 1: nested more than 128 deep");
  EXPECT_EQ(refusal("a: " + repeated("{", 100'000)), "x.yaml: line 1: nested more than 128 deep");
  EXPECT_EQ(refusal(repeated("- ", 100'000)), "x.yaml: line 1: nested more than 128 deep");
}

// Nine lists of nine aliases each would be 3.9e8 values: "billion laughs".
TEST(ParseYaml, BoundsWhatAliasesUnfoldTo) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + alias + repeated(", " + alias, 8) +
            "]\n";
  }
  EXPECT_EQ(refusal(text), "x.yaml: line 6: its aliases unfold to more than a million values");
}

TEST(ParseYaml, RefusesAnAliasInsideItself) {
  EXPECT_EQ(refusal("\na: &a [1, *a]\n"), "x.yaml: line 2: an alias stands inside the value that it names");
}

TEST(ParseYaml, AnAliasMayBeAKey) {
  const Document d = parse_yaml("x.yaml", "a: &k 010\nb: {*k : 1}\n");
  EXPECT_EQ(*d.root.find("b"), Value::object().set("010", 1));
  EXPECT_EQ(refusal("a: &k [1]\nb: {*k : 1}\n"), "x.yaml: line 2: a key must be a plain text");
}

TEST(ParseYaml, BoundsTheTextThatAliasesUnfoldTo) {
  const std::string large(1U << 20U, 'x');
  EXPECT_EQ(refusal("a: &a " + large + "\nb: [*a" + repeated(", *a", 62) + "]\n"), "(no error)");
  EXPECT_EQ(refusal("a: &a " + large + "\nb: [*a" + repeated(", *a", 63) + "]\n"),
            "x.yaml: line 2: its aliases unfold to more than 64 MiB of text");
}

TEST(ParseYaml, BoundsTheDepthThatAliasesUnfoldTo) {
  const std::string deep = "a: &a " + repeated("[", 100) + repeated("]", 100) + "\n";
  EXPECT_EQ(refusal(deep + "b: " + repeated("[", 28) + "*a" + repeated("]", 28)), "(no error)");
  EXPECT_EQ(refusal(deep + "b: " + repeated("[", 29) + "*a" + repeated("]", 29)),
            "x.yaml: line 2: nested more than 128 deep");
}

TEST(ParseYaml, BoundsTheNumberOfValues) {
  EXPECT_EQ(refusal("a: [0" + repeated(",0", 1'000'000) + "]"),
            "x.yaml: line 1: holds more than a million values; JSON may hold 4 million");
}

TEST(ParseYaml, BoundsTheSize) {
  EXPECT_EQ(refusal("a: " + std::string(16U << 20U, 'x')),
            "x.yaml: is larger than 16 MiB, the most that YAML may have; JSON may have 64 MiB");
}

TEST(ParseYaml, RefusesSeveralDocuments) {
  for (const char* text : {"a: 1\n---\nb: 2\n", "a: 1\n---\n", "a: 1\n---", "a: 1\n--- # nothing\n"}) {
    EXPECT_EQ(refusal(text), "x.yaml: line 2: a second YAML document begins here; one is expected") << text;
  }
  EXPECT_EQ(refusal("---\na\n---\nb"), "x.yaml: line 3: a second YAML document begins here; one is expected");
  for (const char* text : {"---\na: 1\n...\n", "a: 1\n...\n...\n# the end\n", "a: 1\n\n \n"}) {
    EXPECT_EQ(refusal(text), "(no error)") << text;
  }
}

// The parser does not consume some stray tokens: each would be an empty document, for ever.
TEST(ParseYaml, RefusesTextAfterTheFirstValue) {
  const std::string more = "not valid YAML: more text after the end of the first value";
  for (const char* text : {"{i},", "[a],", "{i},{j}", ",", "\"a\",", "{i} {j}", "[a] b"}) {
    EXPECT_EQ(refusal(text), "x.yaml: line 1: " + more) << text;
  }
  EXPECT_EQ(refusal("a: 1\n...\nb: 2\n"), "x.yaml: line 3: " + more);
  EXPECT_EQ(refusal("[\ni\n]\n\n,\n"), "x.yaml: line 5: " + more);
  const std::string closed = "not valid YAML: a bracket is closed that was not opened";
  EXPECT_EQ(refusal("a: b\n}"), "x.yaml: line 2: " + closed);
  EXPECT_EQ(refusal("- a\n]"), "x.yaml: line 2: " + closed);
}

TEST(ParseYaml, EndsOnEveryShortTextOfPunctuation) {
  const std::string letters = "{}[],:-?&*!|>'\"%@`#.~<= \n\tai0";
  std::uint32_t state = 1;
  const auto dice = [&](std::size_t sides) {
    state = state * 1664525U + 1013904223U;
    return (state >> 8U) % sides;
  };
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::size_t n = 1 + dice(12); n > 0; --n) text += letters[dice(letters.size())];
    EXPECT_NE(refusal(text), "") << text;
  }
}

TEST(ParseYaml, TakesTheKeysOfMergedGroupsOver) {
  const Document d = parse_yaml(
      "x.yaml", "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc:\n  <<: *a\n  x: 5\nd: {<<: [*b, *a], '<<': q}\n");
  EXPECT_EQ(*d.root.find("c"), Value::object().set("x", 5).set("y", 2));
  EXPECT_EQ(*d.root.find("d"), Value::object().set("<<", "q").set("y", 3).set("z", 4).set("x", 1));
  EXPECT_EQ(d.line_of({"c", "y"}), 1);
  EXPECT_EQ(refusal("a: 1\nb: {<<: 3}\n"),
            "x.yaml: line 2: '<<' takes the keys of a group over, and this is none");
}

TEST(ParseYaml, BoundsWhatMergesUnfoldTo) {
  std::string text = "a0: &a0 {x: 1}\n";
  for (int i = 1; i < 40; ++i) {
    const std::string name = "a" + std::to_string(i);
    const std::string alias = "*a" + std::to_string(i - 1);
    text += name;
    text.append(": &").append(name).append(" {<<: [").append(alias).append(", ").append(alias).append("]}\n");
  }
  EXPECT_THAT(refusal(text), ::testing::HasSubstr("its aliases unfold to more than a million values"));
}

TEST(ParseYaml, GuessesACommaWhereDigitsAreAKeyTwice) {
  EXPECT_EQ(refusal("{size: 8,000,000}"),
            "x.yaml: line 1: the key '000' is given twice; a comma inside a number?");
}

TEST(ParseYaml, RefusesWhatIsNoUtf8) {
  EXPECT_EQ(refusal("name: x\nnote: \xff\n"), "x.yaml: line 2: not valid UTF-8; save the file as UTF-8");
  EXPECT_EQ(refusal(std::string("\x7f"
                                "ELF\x02\x01\x01\0\0",
                                9)),
            "x.yaml: is a binary file, not JSON or YAML");
}

TEST(ParseYaml, NullIsAValue) {
  for (const char* text : {"null", "~\n", "# note\nnull\n", "--- null"}) {
    EXPECT_EQ(refusal(text), "(no error)") << text;
    EXPECT_TRUE(parse_yaml("x", text).root.is_null()) << text;
  }
}

TEST(ParseYaml, RefusesAnEmptyText) {
  for (const char* text : {"", "\n \n", "# only a comment\n", "---\n", "\xef\xbb\xbf"}) {
    EXPECT_EQ(refusal(text), "x.yaml: the file is empty") << text;
  }
}

// Quadratic, this would take minutes.
TEST(ParseYaml, AMillionEmptyLinesTakeNoTime) {
  EXPECT_EQ(refusal(std::string(1'000'000, '\n')), "x.yaml: the file is empty");
  EXPECT_EQ(refusal(repeated("...\n", 1'000'000)), "x.yaml: the file is empty");
}

TEST(ParseYaml, SaysWhereTheTextIsNoYaml) {
  EXPECT_EQ(refusal("a: 1\nb: [1, 2\n"), "x.yaml: line 3: not valid YAML: a bracket is not closed");
  EXPECT_EQ(refusal("a: 1\n b: 2\n"),
            "x.yaml: line 2: not valid YAML: a ': ' is not allowed here (a text with a colon needs quotes)");
  EXPECT_EQ(refusal("a:\n\t- 1\n"), "x.yaml: line 2: not valid YAML: a tab; YAML is indented with spaces");
  EXPECT_EQ(refusal("a: *none\n"), "x.yaml: line 1: not valid YAML: the referenced anchor is not defined");
}

TEST(ParseYaml, PassesOverAByteOrderMarkAndCarriageReturns) {
  const Document d = parse_yaml("x.yaml",
                                "\xef\xbb\xbf"
                                "a: x\r\nb:\r\n  - 2\r\n");
  EXPECT_EQ(d.root, Value::object().set("a", "x").set("b", Value::array().push(2)));
  EXPECT_EQ(d.line_of({"b", "0"}), 3);
}

// Whatever it makes of them: no crash, and a Value whose JSON is valid.
TEST(ParseYaml, SurvivesStrayBytes) {
  for (const std::string& text :
       {std::string("a: \xff\xfe"), std::string("\xff\xfe\x00\x01", 4), std::string("a: \xc3"),
        std::string("a: x\0y", 6), std::string("\xed\xa0\x80: 1"), std::string(1, '\0')}) {
    std::string json = "null";
    const std::string message = message_of([&] { json = to_json(parse_yaml("x.yaml", text).root); });
    EXPECT_EQ(message_of([&] { static_cast<void>(parse_json("y", json)); }), "(no error)") << message;
  }
}

}  // namespace
}  // namespace nest::base
