#include "nest/base/document/parse_causes.hpp"

#include <gtest/gtest.h>

#include <string>

#include "nest/base/document/document.hpp"
#include "support/message_of.hpp"

namespace nest::base {
namespace {

// Through the doors: the parsers' own messages are part of what is tested.
std::string json(const std::string& text) {
  return message_of([&] { static_cast<void>(parse_json("x", text)); });
}
std::string yaml(const std::string& text) {
  return message_of([&] { static_cast<void>(parse_yaml("x", text)); });
}

TEST(JsonCause, CommasAndBrackets) {
  EXPECT_EQ(json("{\"a\": 1,\n\"b\": 2,\n}"), "x: line 3: not valid JSON: a comma with nothing after it");
  EXPECT_EQ(json("[1, 2,]"), "x: line 1: not valid JSON: a comma with nothing after it");
  EXPECT_EQ(json("{\"a\": 1\n\"b\": 2}"), "x: line 2: not valid JSON: a comma is missing before \"b\"");
  EXPECT_EQ(json("[1 22]"), "x: line 1: not valid JSON: a comma is missing before 22");
  EXPECT_EQ(json("[1 {}]"), "x: line 1: not valid JSON: a comma is missing before {");
  EXPECT_EQ(json("{\"a\": 1,\n\"b\": {\"c\": 2,\n"),
            "x: line 2: not valid JSON: the '{' of line 2 is not closed");
  EXPECT_EQ(json("{\"a\": [\"]\", 1"), "x: line 1: not valid JSON: the '[' of line 1 is not closed");
  EXPECT_EQ(json("[1, 2}"), "x: line 1: not valid JSON: a ']' is missing before this '}'");
  EXPECT_EQ(json("{\"a\": 1]"), "x: line 1: not valid JSON: a '}' is missing before this ']'");
  EXPECT_EQ(json("{\"a\" 1}"), "x: line 1: not valid JSON: a ':' is missing after a key");
  EXPECT_EQ(json("[1]\n\n[2]"), "x: line 3: not valid JSON: more text after the end of the first value");
}

TEST(JsonCause, WordsThatAreNoJson) {
  EXPECT_EQ(json("{\"a\":\nNaN}"), "x: line 2: not valid JSON: JSON has no NaN");
  EXPECT_EQ(json("[nan]"), "x: line 1: not valid JSON: JSON has no nan");
  EXPECT_EQ(json("[True]"), "x: line 1: not valid JSON: 'True' is not JSON; write true");
  EXPECT_EQ(json("[None]"), "x: line 1: not valid JSON: 'None' is not JSON; write null");
  EXPECT_EQ(json("{'a': 1}"),
            "x: line 1: not valid JSON: texts stand in double quotes in JSON, not in single ones");
  EXPECT_EQ(json("{\"a\": 'b'}"),
            "x: line 1: not valid JSON: texts stand in double quotes in JSON, not in single ones");
  EXPECT_EQ(json("{model_type: 1}"), "x: line 1: not valid JSON: the key model_type needs double quotes");
  EXPECT_EQ(json("{\"a\": llama}"), "x: line 1: not valid JSON: the text llama needs double quotes");
  EXPECT_EQ(json("{\"a\": 1, // note\n\"b\": 2}"), "x: line 1: not valid JSON: JSON has no comments");
  EXPECT_EQ(json("[1,\n# note\n2]"), "x: line 2: not valid JSON: JSON has no comments");
  EXPECT_EQ(json("{\"a\":\n1e999}"), "x: line 2: not valid JSON: the number 1e999 is too large");
  EXPECT_EQ(json("{\"a\": \"b\n}"), "x: line 1: not valid JSON: a quote is not closed");
  EXPECT_EQ(json("{\"a\": \"b"), "x: line 1: not valid JSON: a quote is not closed");
}

TEST(JsonCause, OtherMessagesPassThrough) {
  EXPECT_EQ(json_cause("[json.exception.parse_error.101] parse error at line 1, column 2: odd", "{}", 0),
            "odd");
  EXPECT_EQ(json_cause("odd", "", 0), "odd");
}

TEST(YamlCause, CommonMistakes) {
  EXPECT_EQ(yaml("a: x: y\n"),
            "x: line 1: not valid YAML: a ': ' is not allowed here (a text with a colon needs quotes)");
  EXPECT_EQ(yaml("name: x\n\tlevels: 3\n"), "x: line 2: not valid YAML: a tab; YAML is indented with spaces");
  EXPECT_EQ(yaml("a:\n\t- 1\n"), "x: line 2: not valid YAML: a tab; YAML is indented with spaces");
  EXPECT_EQ(yaml("a: {b: 1\n"), "x: line 2: not valid YAML: a bracket is not closed");
  EXPECT_EQ(yaml("a: [1, 2\n"), "x: line 2: not valid YAML: a bracket is not closed");
  EXPECT_EQ(yaml("a: 1\n]\n"), "x: line 2: not valid YAML: a bracket is closed that was not opened");
  EXPECT_EQ(yaml_cause("illegal EOF in scalar", "a: \"x"), "a quote is not closed");
  EXPECT_EQ(yaml("a: 1\n- b\n"),
            "x: line 2: not valid YAML: this line does not fit those above it; check its indentation");
  EXPECT_EQ(yaml("a: *none\n"), "x: line 1: not valid YAML: the referenced anchor is not defined");
}

}  // namespace
}  // namespace nest::base
