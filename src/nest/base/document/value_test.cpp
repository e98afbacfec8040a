#include "nest/base/document/value.hpp"

#include <gtest/gtest.h>

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "nest/base/document/document.hpp"
#include "support/random_value.hpp"

namespace nest::base {
namespace {

std::string line(const Value& value) {
  return to_json_line(value);
}

TEST(Value, KnowsItsKind) {
  EXPECT_EQ(Value().kind_name(), "nothing");
  EXPECT_EQ(Value(nullptr).kind_name(), "nothing");
  EXPECT_EQ(Value(true).kind_name(), "true or false");
  EXPECT_EQ(Value(1).kind_name(), "a whole number");
  EXPECT_EQ(Value(1.5).kind_name(), "a number");
  EXPECT_EQ(Value("x").kind_name(), "a text");
  EXPECT_EQ(Value(std::string_view("x")).kind_name(), "a text");
  EXPECT_EQ(Value::array().kind_name(), "a list");
  EXPECT_EQ(Value::object().kind_name(), "a group of keys");
  EXPECT_EQ(Value(std::uint8_t{7}), Value(std::int64_t{7}));
}

TEST(Value, FindsMembersByKey) {
  Value v = Value::object();
  v.set("a", 1).set("b", Value::array());
  EXPECT_EQ(*v.find("a")->as_int(), 1);
  EXPECT_EQ(v.find("c"), nullptr);
  EXPECT_EQ(Value("text").find("a"), nullptr);
  EXPECT_EQ(Value::array().find("a"), nullptr);
}

TEST(Value, ComparesContentNotLines) {
  Value a(5);
  a.set_line(3);
  EXPECT_EQ(a, Value(5));
  EXPECT_FALSE(Value(5) == Value(5.0));
  EXPECT_FALSE(Value() == Value(false));
}

TEST(ToJson, EscapesTexts) {
  EXPECT_EQ(line("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(line("\n\t\r\b\x1f\x7f"), "\"\\n\\t\\r\\u0008\\u001f\x7f\"");
  EXPECT_EQ(line(std::string("\0", 1)), R"("\u0000")");
  EXPECT_EQ(line("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"");
}

TEST(ToJson, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(line("a\xff"), R"("a\ufffd")");
  EXPECT_EQ(line("\xe2\x82"), R"("\ufffd\ufffd")");                      // broken off
  EXPECT_EQ(line("\xc0\xaf"), R"("\ufffd\ufffd")");                      // an overlong slash
  EXPECT_EQ(line("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")");            // half of a surrogate pair
  EXPECT_EQ(line("\xf4\x90\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")");  // beyond U+10FFFF
  EXPECT_EQ(line("\xc3(\xc3\xa9"), "\"\\ufffd(\xc3\xa9\"");
}

TEST(ToJson, WritesTheShortestNumbers) {
  EXPECT_EQ(line(0.1), "0.1");
  EXPECT_EQ(line(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(line(5e-6), "5e-06");
  EXPECT_EQ(line(5e10), "5e+10");
  EXPECT_EQ(line(2.0), "2");
  EXPECT_EQ(line(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(line(std::numeric_limits<double>::denorm_min()), "5e-324");
}

TEST(ToJson, WritesNullForWhatJsonLacks) {
  EXPECT_EQ(line(std::nan("")), "null");
  EXPECT_EQ(line(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(line(-std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(line(Value()), "null");
}

Value sample() {
  Value layers = Value::array();
  layers.push(Value::object().set("id", 0).set("name", "embedding"));
  layers.push(Value::object().set("id", 1).set("sizes", Value::array().push(1).push(2)));
  Value v = Value::object();
  v.set("name", "x")
      .set("layers", std::move(layers))
      .set("none", Value::array())
      .set("empty", Value::object());
  return v;
}

TEST(ToJson, PrettyFormReadsAsATable) {
  EXPECT_EQ(to_json(sample()), R"({
  "name": "x",
  "layers": [
    {"id": 0, "name": "embedding"},
    {
      "id": 1,
      "sizes": [1, 2]
    }
  ],
  "none": [],
  "empty": {}
})");
}

TEST(ToJson, OneLineForm) {
  EXPECT_EQ(line(sample()),
            R"({"name": "x", "layers": [{"id": 0, "name": "embedding"}, {"id": 1, "sizes": [1, 2]}], )"
            R"("none": [], "empty": {}})");
}

TEST(ToJson, BreaksObjectsThatAreWiderThanALine) {
  EXPECT_EQ(to_json(Value::object().set("a", std::string(101, 'x'))),
            "{\"a\": \"" + std::string(101, 'x') + "\"}");
  EXPECT_EQ(to_json(Value::object().set("a", std::string(102, 'x'))),
            "{\n  \"a\": \"" + std::string(102, 'x') + "\"\n}");
}

// A real number that is whole is written without a point and reads back as a whole number.
Value as_read_back(const Value& value) {
  if (const double* d = value.as_real()) {
    const std::string text = line(value);
    // A whole number without point or exponent reads back as one, unless it is beyond int64.
    std::int64_t whole = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, whole);
    return read.ec == std::errc{} && read.ptr == end ? Value(whole) : Value(*d);
  }
  if (const Value::Array* items = value.as_array()) {
    Value out = Value::array();
    for (const Value& item : *items) out.push(as_read_back(item));
    return out;
  }
  if (const Value::Object* members = value.as_object()) {
    Value out = Value::object();
    for (const auto& [key, item] : *members) out.set(key, as_read_back(item));
    return out;
  }
  return value;
}

RC_GTEST_PROP(ToJson, ReadsBackAsTheSameValue, ()) {
  Value value = Value::array();
  value.push(random_value(4));
  RC_ASSERT(parse_json("x.json", to_json(value)).root == as_read_back(value));
  RC_ASSERT(parse_json("x.json", to_json_line(value)).root == as_read_back(value));
}

}  // namespace
}  // namespace nest::base
