#include "nest/model/hub/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"
#include "nest/base/error.hpp"

namespace nest::model {
namespace {

using ::testing::ElementsAre;

Value of(const std::string& text) {
  static const Document keys =
      parse_json("c.json", R"({"a": 12, "b": 4, "none": null, "half": 0.5, "yes": true, "word": "silu",
                    "list": [0, 3, 7], "group": {"inside": 9}})");
  return Expression::parse(text).evaluate([](const std::string& name) {
    const Value* found = keys.root.find(name);
    return found == nullptr ? Value() : *found;
  });
}

std::string message(const std::string& text) {
  try {
    static_cast<void>(of(text));
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(Expression, Arithmetic) {
  EXPECT_EQ(of("a / b + 2 * (1 + 1)"), Value(7));
  EXPECT_EQ(of("a - b - 1"), Value(7));
  EXPECT_EQ(of("a // 5"), Value(2));
  EXPECT_EQ(of("a % 5"), Value(2));
  EXPECT_EQ(of("root(a)"), Value(3));
  EXPECT_EQ(of("power(b, 0.5)"), Value(2.0));
  EXPECT_EQ(of("1.0 / b"), Value(0.25));
  EXPECT_EQ(of("a * 0.5"), Value(6)) << "what comes out even is a whole number";
  EXPECT_EQ(of("-a"), Value(-12));
  EXPECT_EQ(of("half * a"), Value(6));
}

TEST(Expression, NullFallsBack) {
  EXPECT_EQ(of("none ?? b"), Value(4));
  EXPECT_EQ(of("missing ?? none ?? 5"), Value(5));
  EXPECT_EQ(of("a ?? b / 5"), Value(12)) << "the other side is not looked at";
  EXPECT_EQ(of("missing"), Value());
}

TEST(Expression, ChoicesAndComparisons) {
  EXPECT_EQ(of("a > b ? 1 : 2"), Value(1));
  EXPECT_EQ(of("3 in list && !(4 in list)"), Value(true));
  EXPECT_EQ(of("word == 'silu' || missing"), Value(true));
  EXPECT_EQ(of("yes ? missing ? 1 : 2 : 3"), Value(2));
  EXPECT_EQ(of("a != 12"), Value(false));
  EXPECT_EQ(of("none == null"), Value(true));
}

TEST(Expression, PartsOfListsAndGroups) {
  EXPECT_EQ(of("list[1]"), Value(3));
  EXPECT_EQ(of("list[3] ?? 8"), Value(8));
  EXPECT_EQ(of("group.inside"), Value(9));
  EXPECT_EQ(of("missing.inside"), Value());
  const auto numbered = [](const std::string& text) {
    return Expression::parse(text).evaluate(
        [](const std::string&) { return parse_json("config.json", R"({"05": 7, "0": 3})").root; });
  };
  EXPECT_EQ(numbered("layers[5]"), Value(7));
  EXPECT_EQ(numbered("layers[0]"), Value(3));
  EXPECT_EQ(numbered("layers[1]"), Value());
}

TEST(Expression, Names) {
  EXPECT_THAT(Expression::parse("a ?? group.inside + list[b]").names(),
              ElementsAre("a", "group", "list", "b"));
}

TEST(Expression, Mistakes) {
  EXPECT_EQ(message("a / 5"), "12 is not a multiple of 5");
  EXPECT_EQ(message("a / (b - 4)"), "a size that something is divided by is 0");
  EXPECT_EQ(message("word + 1"), "a text is no number");
  EXPECT_EQ(message("a + "), "'a + ' is no expression: something is wrong at ''");
  EXPECT_EQ(message("a b"), "'a b' is no expression: something is wrong at 'b'");
  EXPECT_EQ(message("a * 999999999999"), "a number is beyond the sizes of any model");
}

}  // namespace
}  // namespace nest::model
