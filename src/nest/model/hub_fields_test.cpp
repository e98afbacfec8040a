#include "nest/model/hub_fields.hpp"

#include <gtest/gtest.h>

#include "nest/model/test_configs.hpp"

namespace nest {
namespace {

TEST(HubFields, TheFirstSpellingThatIsPresentCounts) {
  const Document document = parse_json("c.json", R"({"b": 2, "c": 3, "n": null})");
  Reader r(document);
  EXPECT_EQ(size_field(r, {"a", "b", "c"}, 9), 2);
  EXPECT_EQ(size_field(r, {"n"}, 9), 9);
  EXPECT_EQ(count_field(r, {"x"}, 0), 0);
}

TEST(HubFields, AWholeNumberMayBeWrittenWithAPoint) {
  const Document document = parse_json("c.json", R"({"a": 4096.0})");
  Reader r(document);
  EXPECT_EQ(size_field(r, {"a"}, 1), 4096);
}

TEST(HubFields, SizesThatNobodyHasAreTypingErrors) {
  EXPECT_EQ(config_message(R"({"model_type": "llama", "hidden_size": 100000000})"),
            "config.json: line 1, hidden_size: 100000000 is outside 1 to 10000000");
  EXPECT_EQ(config_message(R"({"model_type": "llama", "num_hidden_layers": 20000})"),
            "config.json: line 1, num_hidden_layers: 20000 is outside 1 to 10000");
}

}  // namespace
}  // namespace nest
