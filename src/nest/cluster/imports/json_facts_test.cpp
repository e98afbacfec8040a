#include "nest/cluster/imports/json_facts.hpp"

#include <gtest/gtest.h>

#include "support/message_of.hpp"

namespace nest::cluster {
namespace {

TEST(JsonFacts, WaysMayBeMissing) {
  const Document document = parse_json("x.json", R"({"a": {"b": "t", "n": 3, "f": 1.5}, "list": [1, 2]})");
  EXPECT_EQ(text_of(document.root, {"a", "b"}), "t");
  EXPECT_EQ(text_of(document.root, {"a", "n"}), "3");
  EXPECT_EQ(text_of(document.root, {"a", "f"}), "");
  EXPECT_EQ(text_of(document.root, {"a", "b", "c"}), "");
  EXPECT_EQ(member(document.root, {"x"}), nullptr);
}

TEST(JsonFacts, EntriesOfAListTheRootOrOne) {
  EXPECT_EQ(entries_of(parse_json("x", R"({"items": [1, 2]})"), {"nodes", "items"}).size(), 2U);
  EXPECT_EQ(entries_of(parse_json("x", "[1, 2, 3]"), {"items"}).size(), 3U);
  EXPECT_EQ(entries_of(parse_json("x", R"({"name": "a"})"), {"items"}).size(), 1U);
  const Document document = parse_json("x.json", "{\"items\": [\n{},\n{}]}");
  EXPECT_EQ(message_of([&] { fail_entry(document, entries_of(document, {"items"})[1], "odd", "hint"); }),
            "x.json: line 3, items[1]: odd; hint");
}

TEST(JsonFacts, KeysWithoutReadingTheFile) {
  EXPECT_TRUE(has_key(R"({"npus_count" : [8]})", "npus_count"));
  EXPECT_TRUE(has_key("npus_count: [8]", "npus_count"));
  EXPECT_FALSE(has_key("the npus_count is 8", "npus_count"));
  EXPECT_FALSE(has_key("npus_counts: 8", "npus_count"));
}

}  // namespace
}  // namespace nest::cluster
