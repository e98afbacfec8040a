#include "nest/base/document/toml.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "support/message_of.hpp"

namespace nest::base {
namespace {

Value read(const std::string& text) {
  return parse_toml("x.toml", text).root;
}
std::string refusal(const std::string& text) {
  return message_of([&] { static_cast<void>(read(text)); });
}

// As torchtitan's files look.
constexpr const char* kSample = R"(# NOTE: for 64 GPUs

[model]
name = "llama3"  # the module
converters = [
  "float8",  # a comment inside
  'mx',
]

[training]
seq_len = 8_192
max_norm = 1.0
warm = {steps = 2, "odd key" = [[1, 2], []]}

[quantize.linear.float8]
enable=true
filter.fqns = ["output"]
filter.more = 2

[[part]]
name = "a"
[[part]]
name = "b"
[part.inner]
text = """
one \
   two
three\u00e9"""
)";

TEST(Toml, ReadsTablesListsAndTexts) {
  EXPECT_EQ(
      to_json_line(read(kSample)),
      R"({"model": {"name": "llama3", "converters": ["float8", "mx"]}, )"
      R"("training": {"seq_len": 8192, "max_norm": 1, "warm": {"steps": 2, "odd key": [[1, 2], []]}}, )"
      R"("quantize": {"linear": {"float8": {"enable": true, "filter": {"fqns": ["output"], "more": 2}}}}, )"
      R"("part": [{"name": "a"}, {"name": "b", "inner": {"text": "one two\nthree)"
      "\xc3\xa9"
      R"("}}]})");
  EXPECT_EQ(read(""), Value::object());
  EXPECT_EQ(read("a.b.c = '''\nx''y''''"), read("[a]\nb = {c = \"x''y'\"}\r\n"));
}

TEST(Toml, KnowsLines) {
  const Document d = parse_toml("x.toml", kSample);
  EXPECT_EQ(d.line_of({"model", "name"}), 4);
  EXPECT_EQ(d.line_of({"model", "converters", "1"}), 7);
  EXPECT_EQ(d.line_of({"training", "seq_len"}), 11);
  EXPECT_EQ(d.line_of({"quantize", "linear", "float8", "enable"}), 16);
  EXPECT_EQ(d.line_of({"part", "1", "name"}), 23);
}

TEST(Toml, TablesMayComeInAnyOrder) {
  EXPECT_EQ(to_json_line(read("[a.b]\nx=1\n[a]\ny=2\n[a.b.c]\nz=3\n")),
            R"({"a": {"b": {"x": 1, "c": {"z": 3}}, "y": 2}})");
  EXPECT_EQ(to_json_line(read("[fruit]\napple.color=1\n[fruit.apple.taste]\nsweet=true\n")),
            R"({"fruit": {"apple": {"color": 1, "taste": {"sweet": true}}}})");
}

TEST(Toml, RefusesWithTheLine) {
  EXPECT_EQ(refusal("\n[a]\nb = \n"), "x.toml: line 3: not valid TOML: a value is expected");
  EXPECT_EQ(refusal("mode = selective\n"),
            "x.toml: line 1: not valid TOML: 'selective' is no value: texts stand between quotes");
  EXPECT_EQ(refusal("a = 1\na = 2\n"), "x.toml: line 2: not valid TOML: the key 'a' is given twice");
  EXPECT_EQ(refusal("[a]\n[b]\n[a]\n"), "x.toml: line 3: not valid TOML: the table 'a' is defined twice");
  EXPECT_EQ(refusal("[a]\nb.c = 1\n[a.b]\n"),
            "x.toml: line 3: not valid TOML: the table 'b' is defined twice");
  EXPECT_EQ(refusal("a = {b = 1}\n[a.c]\n"),
            "x.toml: line 2: not valid TOML: 'a' is no table that can be added to");
  EXPECT_EQ(refusal("a = {b = {}, b.c = 1}"),
            "x.toml: line 1: not valid TOML: 'b' is no table that can be added to");
  EXPECT_EQ(refusal("a = [1]\n[[a]]\n"),
            "x.toml: line 2: not valid TOML: 'a' is defined already, and not as a list of tables");
  EXPECT_EQ(refusal("a = 1 b = 2"), "x.toml: line 1: not valid TOML: more text after the end of a value");
  EXPECT_EQ(refusal("[a\n"), "x.toml: line 1: not valid TOML: ']' is expected");
  EXPECT_EQ(refusal("[a]]\n"), "x.toml: line 1: not valid TOML: more text after the end of a value");
  EXPECT_EQ(refusal("a = [1,\n2"), "x.toml: line 2: not valid TOML: a comma or ']' is expected");
  EXPECT_EQ(refusal("a = {b = 1,}"), "x.toml: line 1: not valid TOML: a comma with nothing after it");
  EXPECT_EQ(refusal("a = \"x"), "x.toml: line 1: not valid TOML: a text is not closed");
  EXPECT_EQ(refusal("a = \"x\ny\""), "x.toml: line 1: not valid TOML: a text has a control character");
  EXPECT_EQ(refusal(R"(a = "\q")"), "x.toml: line 1: not valid TOML: a backslash with nothing that it means");
  EXPECT_EQ(refusal(R"(a = "\ud800")"), "x.toml: line 1: not valid TOML: an escape is no character");
  EXPECT_EQ(refusal("a"), "x.toml: line 1: not valid TOML: '=' after the key is expected");
  EXPECT_EQ(refusal("= 1"), "x.toml: line 1: not valid TOML: a key is expected");
  EXPECT_EQ(refusal("a = " + std::string(200, '[')),
            "x.toml: line 1: not valid TOML: nested more than 128 deep");
  std::string keys;
  for (int i = 0; i < 10'001; ++i) keys += "k" + std::to_string(i) + "=1\n";
  EXPECT_EQ(refusal(keys), "x.toml: line 10001: not valid TOML: more than 10,000 keys");
}

// A key with a line end in it is not two keys.
TEST(Toml, OddKeysStayApart) {
  EXPECT_EQ(refusal("[[a]]\n[[a.b]]\n[\"1:a1:01:b\"]\n[\"1:a1:01:b\".c]\n"), "(no error)");
  EXPECT_EQ(refusal("[[a]]\n[[\"a\\nb\"]]\n[a.\"0\\nb\"]\nc = 1\n"), "(no error)");
}

// Texts that are cut, doubled or spoilt are read or refused, and nothing worse.
TEST(Toml, SpoiltTextsNeverCrash) {
  std::mt19937 dice(7);  // NOLINT(cert-msc51-cpp): the same texts each time
  const std::string sample = kSample;
  const std::string odd = "[]{}\"'=.,#\\\n\r\t +-_0aeE:u\x80";
  int good = 0;
  for (int round = 0; round < 5'000; ++round) {
    std::string text = sample;
    for (std::size_t change = dice() % 4 + 1; change > 0; --change) {
      const std::size_t at = dice() % text.size();
      switch (dice() % 4) {
        case 0:
          text.erase(at, dice() % 9 + 1);
          break;
        case 1:
          text[at] = odd[dice() % odd.size()];
          break;
        case 2:
          text.insert(at, 1, odd[dice() % odd.size()]);
          break;
        default:
          text.insert(at, sample.substr(dice() % sample.size(), dice() % 40));
          break;
      }
      if (text.empty()) text = " ";
    }
    if (refusal(text) == "(no error)") ++good;
  }
  EXPECT_GT(good, 100);
  EXPECT_LT(good, 3'000);
  for (int round = 0; round < 5'000; ++round) {
    std::string text;
    for (std::size_t size = dice() % 30; size > 0; --size) text += odd[dice() % odd.size()];
    static_cast<void>(refusal(text));
  }
}

}  // namespace
}  // namespace nest::base
