#include "nest/model/hub/hub_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/model/blocks/build.hpp"

namespace nest::model {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ModelSpec read(const std::string& json, Warnings& warnings) {
  return read_hub_config(parse_json("config.json", json), "x", warnings);
}

std::int64_t parameters(const std::string& json) {
  Warnings warnings;
  const std::int64_t n = build_model(read(json, warnings)).parameters();
  EXPECT_THAT(warnings, IsEmpty());
  return n;
}

std::string message(const std::string& json) {
  try {
    static_cast<void>(parameters(json));
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

// An empty file of a type is that class's default model.
TEST(HubConfig, MissingKeysTakeTheClassDefault) {
  EXPECT_EQ(parameters(R"({"model_type": "llama"})"), 6'738'415'616);
  EXPECT_EQ(parameters(R"({"model_type": "mistral"})"), 7'241'732'096);
  EXPECT_EQ(parameters(R"({"model_type": "mixtral"})"), 46'702'792'704);
  EXPECT_EQ(parameters(R"({"model_type": "gpt2"})"), 124'439'808);
  EXPECT_EQ(parameters(R"({"model_type": "gpt_neox"})"), 20'554'567'680);
  EXPECT_EQ(parameters(R"({"model_type": "opt"})"), 125'239'296);
  EXPECT_EQ(parameters(R"({"model_type": "bert"})"), 109'482'240);
  EXPECT_EQ(parameters(R"({"model_type": "t5"})"), 60'506'624);
  EXPECT_EQ(parameters(R"({"model_type": "phi"})"), 1'418'270'720);
  EXPECT_EQ(parameters(R"({"model_type": "phi3"})"), 3'821'079'552);
  EXPECT_EQ(parameters(R"({"model_type": "gemma"})"), 8'537'680'896);
  EXPECT_EQ(parameters(R"({"model_type": "gemma2"})"), 2'614'341'888);
  EXPECT_EQ(parameters(R"({"model_type": "qwen2_moe"})"), 14'315'784'192);
  EXPECT_EQ(parameters(R"({"model_type": "deepseek_v3"})"), 671'026'404'352);
  EXPECT_EQ(parameters(R"({"model_type": "whisper"})"), 37'760'640);
  EXPECT_EQ(parameters(R"({"model_type": "clip"})"), 151'277'313);
  EXPECT_EQ(parameters(R"({"model_type": "vit"})"), 86'567'656);
}

TEST(HubConfig, TheArchitectureStandsInForAMissingType) {
  EXPECT_EQ(parameters(R"({"architectures": ["GPTNeoXForCausalLM"]})"), 20'554'567'680);
  EXPECT_EQ(parameters(R"({"architectures": ["GPT2LMHeadModel"]})"), 124'439'808);
  EXPECT_EQ(parameters(R"({"architectures": ["Gemma2ForCausalLM"]})"), 2'614'341'888);
}

TEST(HubConfig, RenamedKeysMeanTheSame) {
  EXPECT_EQ(
      parameters(
          R"({"model_type": "gpt2", "hidden_size": 1600, "num_hidden_layers": 48, "num_attention_heads": 25})"),
      1'557'611'200);
  const std::string moe = R"("hidden_size": 2048, "num_hidden_layers": 48, "num_attention_heads": 32,
     "num_key_value_heads": 4, "head_dim": 128, "moe_intermediate_size": 768)";
  EXPECT_EQ(parameters(R"({"model_type": "qwen3_moe", "num_experts": 128, )" + moe + "}"), 30'532'122'624);
  EXPECT_EQ(parameters(R"({"model_type": "qwen3_moe", "num_local_experts": 128, )" + moe + "}"),
            30'532'122'624);
}

TEST(HubConfig, NullMeansTheDerivedValue) {
  EXPECT_EQ(parameters(R"({"model_type": "llama", "num_key_value_heads": null, "head_dim": null})"),
            6'738'415'616);
  EXPECT_EQ(parameters(R"({"model_type": "gpt2", "n_inner": null})"), 124'439'808);
}

TEST(HubConfig, ErrorsAreSentences) {
  EXPECT_EQ(message(R"({"model_type": "lama"})"),
            "config.json: line 1, model_type: the model_type 'lama' is not known; did you mean 'llama'?");
  EXPECT_EQ(
      message("{\"model_type\": \"grok\", \"n_embd\": 1536, \"n_layer\": 2}"),
      "config.json: line 1, model_type: the model_type 'grok' is not known; 'nest models families' lists "
      "the known ones; --like gpt2 reads it by the keys of another");
  EXPECT_EQ(message("{\"hidden_size\": 4096}"),
            "config.json: line 1: the file has neither a model_type nor a known architecture, so it cannot "
            "be read as a config.json; add \"model_type\": \"llama\" or the like");
  EXPECT_EQ(message("{\"model_type\": \"llama\",\n \"hidden_size\": \"big\"}"),
            "config.json: line 2, hidden_size: a whole number is expected, not 'big'");
  EXPECT_EQ(message("{\"model_type\": \"llama\",\n \"hidden_size\": -4096}"),
            "config.json: line 2, hidden_size: -4096 is outside 1 to 10,000,000");
  EXPECT_EQ(message(R"({"model_type": "llama", "num_attention_heads": 30})"),
            "config.json: line 1, num_attention_heads: the hidden size 4096 is not a multiple of the 30 "
            "attention heads; check both");
  EXPECT_EQ(message("{\"model_type\": \"llama\",\n\n\"num_key_value_heads\": 5}"),
            "config.json: line 3, num_key_value_heads: 32 attention heads cannot share 5 key-value heads; "
            "num_attention_heads must be a multiple of num_key_value_heads");
  EXPECT_EQ(message(R"({"model_type": "mixtral", "num_experts_per_tok": 9})"),
            "config.json: line 1, num_experts_per_tok: a token cannot use 9 of 8 experts");
  EXPECT_EQ(message(R"({"model_type": "llama", "num_hidden_layers": 0})"),
            "config.json: line 1, num_hidden_layers: 0 is outside 1 to 10,000");
  EXPECT_EQ(message(R"({"model_type": "llama", "hidden_act": "mish"})"),
            "config.json: line 1, hidden_act: the activation 'mish' is not known; known: silu, gelu and its "
            "variants, "
            "relu");
  EXPECT_EQ(message(R"({"model_type": "newest_vlm", "text_config": {"model_type": "llama"}})"),
            "config.json: line 1, model_type: the model_type 'newest_vlm' is not known; its text_config is a "
            "'llama': --like llama reads that part alone");
  EXPECT_EQ(message("[1, 2]"), "config.json: line 1: a group of keys is expected here, not a list");
}

TEST(HubConfig, AnotherKindOfFileIsNamed) {
  EXPECT_EQ(message(R"({"name": "x", "levels": []})"),
            "config.json: line 1: the file has neither a model_type nor a known architecture, so it cannot "
            "be read as a config.json; this looks like a cluster file: nest clusters show config.json");
  EXPECT_EQ(
      message("{\n\"architectures\": [\"LlamaForCausalLMEagle\"]}"),
      "config.json: line 2, architectures: the architecture 'LlamaForCausalLMEagle' is not known, and no "
      "model_type is given; add \"model_type\": \"llama\" or the like");
  EXPECT_EQ(message("null"), "config.json: line 1: a group of keys is expected here, not nothing");
}

TEST(HubConfig, AnotherHeadIsWarnedOf) {
  Warnings warnings;
  static_cast<void>(read(
      "{\"model_type\": \"llama\",\n\"architectures\": [\"LlamaForSequenceClassification\"]}", warnings));
  EXPECT_THAT(
      warnings,
      ElementsAre("config.json: line 2: the architecture 'LlamaForSequenceClassification' has another "
                  "head; counted is the model with the language-model head"));
}

// A file that nobody misspelt so often must not hold the program up: it was quadratic, minutes for these.
TEST(HubConfig, ManyUnknownKeysAreReadQuickly) {
  std::string text = R"({"model_type": "llama")";
  for (int i = 0; i < 200'000; ++i) text += ",\"unknown_key_" + std::to_string(i) + "\":1";
  EXPECT_EQ(parameters(text + "}"), 6'738'415'616);
}

// Two classes make no model of their defaults; the list of types says so and goes on.
TEST(HubConfig, EveryTypeIsDescribedWithoutAConfig) {
  std::vector<std::string> without;
  for (const std::string& type : known_model_types()) {
    const ModelType known = describe_model_type(type);
    EXPECT_NE(known.defaults.has_value(), known.refusal.size() > 0) << type;
    if (!known.defaults) without.push_back(type + ": " + known.refusal);
  }
  EXPECT_THAT(
      without,
      ElementsAre("lfm2_moe: layer_types must say which layers attend",
                  "qwen3_omni_moe_thinker: text_config.hidden_size: an odd head_dim cannot be rotated"));
  EXPECT_THAT(describe_model_type("lfm2_moe").special,
              ElementsAre("short convolutions in place of attention",
                          "the bias of the router that balances experts"));
}

TEST(HubConfig, AKeyCloseToAKnownOneIsWarnedOf) {
  Warnings warnings;
  static_cast<void>(
      read("{\"model_type\": \"llama\",\n\"num_hiden_layers\": 2, \"pad_token_id\": 0}", warnings));
  EXPECT_THAT(warnings,
              ElementsAre("config.json: line 2: the key 'num_hiden_layers' is not known and was passed over; "
                          "did you mean 'num_hidden_layers'?"));
}

}  // namespace
}  // namespace nest::model
