#include "nest/model/hub/parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/model/hub/test_configs.hpp"

namespace nest::model {
namespace {

using ::testing::ElementsAre;

// As `--like TYPE` reads a file.
struct Read {
  std::int64_t parameters = 0;
  Warnings warnings;
};
Read like(const std::string& type, const std::string& json) {
  Document document = parse_json("config.json", json);
  mark_like(document, type);
  Read out;
  out.parameters = build_model(read_hub_config(document, "x", out.warnings)).parameters();
  return out;
}

TEST(Parts, AGroupWithLayersOrAWidthIsOne) {
  const Value config =
      parse_json("config.json", R"({"text_config": {"hidden_size": 8}, "nest": {"model_type": "x"},
      "vision_config": {"model_type": "vit"}, "quantization_config": {"bits": 4}, "attn_config": {"model_type": ""},
      "llm_config": {}})")
          .root;
  EXPECT_THAT(parts_of_config(config), ElementsAre("text_config", "vision_config"));
  EXPECT_EQ(text_part_of(config), "text_config");
  EXPECT_EQ(text_part_of(parse_json("c", R"({"llm_config": {"n_embd": 8}})").root), "llm_config");
  EXPECT_FALSE(text_part_of(parse_json("c", R"({"text_config": {}})").root));
}

TEST(Parts, WhatATypeDoesNotReadIsNotLeftOutInSilence) {
  EXPECT_EQ(
      config_message(R"({"model_type": "llama", "text_config": {"num_hidden_layers": 2}})"),
      "config.json: line 1, text_config: a 'llama' has no such part, and nothing of it would be read; give "
      "the model_type of the whole, or this part as a file of its own");
  EXPECT_EQ(
      config_message("{\"model_type\": \"qwen3_next\",\n\"vision_config\": {\"depth\": 2}}"),
      "config.json: line 2, vision_config: a 'qwen3_next' has no such part, and nothing of it would be read; "
      "give the model_type of the whole, or this part as a file of its own");
  EXPECT_EQ(
      config_message(R"({"model_type": "llava", "llm_config": {"hidden_size": 64}})"),
      "config.json: line 1, llm_config: a 'llava' has no such part, and nothing of it would be read; give "
      "the model_type of the whole, or this part as a file of its own");
  EXPECT_EQ(
      config_message(R"({"model_type": "llava", "text_config": {"model_type": "llama",
                               "vision_config": {"hidden_size": 64}}})"),
      "config.json: line 2, text_config.vision_config: a 'llama' has no such part, and nothing of it would "
      "be read; give the model_type of the whole, or this part as a file of its own");
}

TEST(Parts, ATypeWithoutPartsReadsTheLanguageModelOfAWhole) {
  const std::string text =
      R"({"hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100})";
  const std::int64_t alone = like("llama", text).parameters;
  const Read whole =
      like("llama", "{\"text_config\": " + text + ",\n\"vision_config\": {\"hidden_size\": 32}}");
  EXPECT_EQ(whole.parameters, alone);
  EXPECT_THAT(
      whole.warnings,
      ElementsAre("config.json: line 1: --like llama reads text_config alone; left out: vision_config"));
  EXPECT_EQ(like("llama", "{\"tie_word_embeddings\": true, \"llm_config\": " + text + "}").parameters,
            alone - 64 * 100)
      << "the whole says of the ends what the part leaves out";
  // A type that has such parts reads all of them.
  EXPECT_GT(like("llava", "{\"text_config\": " + text + "}").parameters, 2 * alone);
}

}  // namespace
}  // namespace nest::model
