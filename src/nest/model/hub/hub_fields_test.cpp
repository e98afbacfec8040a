#include "nest/model/hub/hub_fields.hpp"

#include <gtest/gtest.h>

#include "nest/model/hub/test_configs.hpp"

namespace nest::model {
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
            "config.json: line 1, hidden_size: 100000000 is outside 1 to 10,000,000");
  EXPECT_EQ(config_message(R"({"model_type": "llama", "num_hidden_layers": 20000})"),
            "config.json: line 1, num_hidden_layers: 20000 is outside 1 to 10,000");
}

TEST(HubFields, NumbersBeyondRangeAreNotCalledBroken) {
  EXPECT_EQ(config_message(R"({"model_type": "llama", "hidden_size": 1e18})"),
            "config.json: line 1, hidden_size: 1e18 is outside 1 to 10,000,000");
  EXPECT_EQ(
      config_message(R"({"model_type": "llama", "hidden_size": "256"})"),
      "config.json: line 1, hidden_size: a whole number is expected, not the text '256'; remove the quotes");
}

TEST(HubFields, MistakesBetweenKeysPointAtOneThatIsThere) {
  EXPECT_EQ(config_message("{\"model_type\": \"gpt2\",\n\"n_embd\": 770}"),
            "config.json: line 2, n_embd: the hidden size 770 is not a multiple of the 12 attention heads; "
            "check both");
  EXPECT_EQ(config_message("{\"model_type\": \"whisper\",\n\"d_model\": 385}"),
            "config.json: line 2, d_model: the hidden size 385 is not a multiple of the 6 attention heads; "
            "check both");
  EXPECT_EQ(config_message("{\"model_type\": \"mistral\",\n\"num_attention_heads\": 12, \"head_dim\": 128}"),
            "config.json: line 2, num_attention_heads: 12 attention heads cannot share 8 key-value heads; "
            "num_attention_heads must be a multiple of num_key_value_heads");
  EXPECT_EQ(config_message("{\"model_type\": \"mixtral\",\n\"num_local_experts\": 1}"),
            "config.json: line 2, num_local_experts: a token cannot use 2 of 1 experts");
}

TEST(HubFields, OddHeadsCannotBeRotated) {
  EXPECT_EQ(config_message("{\"model_type\": \"llama\",\n\"head_dim\": 127}"),
            "config.json: line 2, head_dim: an odd head_dim cannot be rotated; it is 127");
  EXPECT_EQ(config_message(R"({"model_type": "gpt_neox", "hidden_size": 960})"),
            "config.json: line 1, hidden_size: an odd head_dim cannot be rotated; it is 15");
  EXPECT_EQ(config_message(R"({"model_type": "deepseek_v3", "qk_rope_head_dim": 63})"),
            "config.json: line 1, qk_rope_head_dim: an odd head_dim cannot be rotated; it is 63");
  EXPECT_EQ(config_message(R"({"model_type": "gpt2", "n_embd": 180})"), "no error");  // not rotary
}

}  // namespace
}  // namespace nest::model
