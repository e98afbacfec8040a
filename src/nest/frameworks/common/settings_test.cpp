#include "nest/frameworks/common/settings.hpp"

#include <gtest/gtest.h>

#include "support/message_of.hpp"

namespace nest::frameworks {
namespace {

Settings some() {
  return Settings(parse_document("x.yaml",
                                 "a:\n  whole: 8\n  quoted: '16'\n  bucket: 5e8\n  auto: auto\n  none: null\n"
                                 "  on: 'True'\n  word: bf16\n  list: [x, y]\nb: 3\n"));
}

TEST(Settings, FindsValuesByDottedNames) {
  const Settings s = some();
  EXPECT_EQ(s.whole("a.whole"), 8);
  EXPECT_EQ(s.whole("a.quoted"), 16);
  EXPECT_EQ(s.whole("a.bucket"), 500'000'000);
  EXPECT_EQ(s.whole("a.auto"), std::nullopt);
  EXPECT_TRUE(s.automatic("a.auto"));
  EXPECT_FALSE(s.automatic("a.none"));
  EXPECT_EQ(s.whole("a.none"), std::nullopt);
  EXPECT_EQ(s.whole("a.nothing.there"), std::nullopt);
  EXPECT_EQ(s.boolean("a.on"), true);
  EXPECT_EQ(s.text("a.word"), "bf16");
  EXPECT_EQ(s.text("a.whole"), "8");
  EXPECT_EQ(s.texts("a.list"), (std::vector<std::string>{"x", "y"}));
}

TEST(Settings, SaysWhereAValueIsWrong) {
  const Settings s = some();
  EXPECT_EQ(message_of([&] { static_cast<void>(s.whole("a.word")); }),
            "x.yaml: line 8, a.word: a whole number from 1 on is expected, not \"bf16\"");
  EXPECT_EQ(message_of([&] { static_cast<void>(s.boolean("b")); }),
            "x.yaml: line 10, b: true or false is expected, not 3");
  EXPECT_EQ(message_of([&] { static_cast<void>(s.text("a.list")); }),
            "x.yaml: line 9, a.list: a text is expected, not a list");
  EXPECT_EQ(message_of([&] { static_cast<void>(s.texts("b")); }),
            "x.yaml: line 10, b: a list of texts is expected");
  EXPECT_EQ(message_of([] { static_cast<void>(Settings(parse_document("x.yaml", "[1]"))); }),
            "x.yaml: settings are expected, each with its name");
  Warnings warnings;
  s.warn_unknown("a", {"whole", "quoted", "bucket", "auto", "none", "on", "list"}, warnings);
  EXPECT_EQ(warnings, Warnings{"x.yaml: line 8, a.word: it is not understood: the plan does not have it"});
}

TEST(Settings, FlatSettingsHaveDottedNames) {
  const std::vector<Flag> flat = flat_settings(parse_document("x", "a: {b: 1, c: [x, 2]}\nd: yes").root);
  EXPECT_EQ(flat, (std::vector<Flag>{{"a.b", {"1"}}, {"a.c", {"[\"x\", 2]"}}, {"d", {"yes"}}}));
}

}  // namespace
}  // namespace nest::frameworks
