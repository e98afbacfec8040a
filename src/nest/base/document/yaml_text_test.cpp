#include "nest/base/document/yaml_text.hpp"

#include <gtest/gtest.h>

#include "nest/base/document/document.hpp"

namespace nest::base {
namespace {

TEST(YamlText, ReadsBackAsTheSameValues) {
  Value list = Value::array();
  list.push("silu").push("linear");
  Value inner = Value::object();
  inner.set("version", 2).set("on", true);
  Value all = Value::object();
  all.set("name", "llama3.1-8b").set("precision", "no").set("empty", "").set("ids", "0").set("list", "0,1");
  all.set("share", 0.125).set("inner", std::move(inner)).set("activations", std::move(list));
  EXPECT_EQ(parse_yaml("x", to_yaml(all)).root, all);
}

TEST(YamlText, PlainTextsStayPlain) {
  Value all = Value::object();
  all.set("a", "bf16").set("b", "NO").set("c", "8b");
  EXPECT_EQ(to_yaml(all), "a: bf16\nb: \"NO\"\nc: \"8b\"\n");
}

TEST(YamlText, Words) {
  EXPECT_EQ(yaml_word("leaf-7/a"), "leaf-7/a");
  EXPECT_EQ(yaml_word("rack 3"), "\"rack 3\"");
  EXPECT_EQ(yaml_word("Off"), "\"Off\"");
}

}  // namespace
}  // namespace nest::base
