#include "nest/model/hub/family_stacks.hpp"

#include <gtest/gtest.h>

#include "nest/model/hub/test_configs.hpp"

namespace nest::model {
namespace {

// Each of these ended the program once.
TEST(FamilyStacks, PartsThatCannotStandWhereTheyAreAreNamed) {
  EXPECT_EQ(config_message(R"({"model_type": "llava", "vision_config": {"model_type": "t5"}})"),
            "config.json: line 1, vision_config.model_type: a 't5' is made of 2 stacks, and one tower is "
            "expected here");
  EXPECT_EQ(
      config_message(R"({"model_type": "ovis2", "text_config": {"model_type": "t5gemma2_decoder"}})"),
      "config.json: line 1, text_config.model_type: a 't5gemma2_decoder' reads an encoder, and there is none "
      "before it");
  EXPECT_EQ(
      config_message(R"({"model_type": "cosmos3_omni", "text_config": {"model_type": "mllama_text_model"}})"),
      "config.json: line 1, text_config.model_type: a 'mllama_text_model' reads an encoder, and there is "
      "none "
      "before it");
  EXPECT_EQ(
      config_message(R"({"model_type": "pi0", "vlm_config": {"model_type": "mllama"}})"),
      "config.json: line 1, vlm_config.model_type: a 'mllama' has an encoder and a decoder, and there is an "
      "encoder before it");
}

TEST(FamilyStacks, TowersSeeAndLanguageReadsTokens) {
  EXPECT_EQ(
      config_message(R"({"model_type": "llava", "vision_config": {"model_type": "llama"}})"),
      "config.json: line 1, vision_config.model_type: a 'llama' reads tokens, and a tower is expected here");
  EXPECT_EQ(
      config_message(R"({"model_type": "llava", "text_config": {"model_type": "clip_vision_model"}})"),
      "config.json: line 1, text_config.model_type: a 'clip_vision_model' reads no tokens, and the model's "
      "language is expected here");
  EXPECT_EQ(
      config_message(R"({"model_type": "llava", "text_config": {"model_type": "clip"}})"),
      "config.json: line 1, text_config.model_type: a 'clip' reads no tokens, and the model's language is "
      "expected here");
  EXPECT_EQ(config_message(R"({"model_type": "llava", "text_config": {"model_type": "bert"}})"),
            "config.json: line 1, text_config.model_type: a 'bert' has no head for the next token");
  EXPECT_EQ(config_message(R"({"model_type": "llava", "text_config": {"model_type": ""}})"),
            "config.json: line 1, text_config.model_type: nothing says of which type the part layer is");
}

// An encoder and a decoder may follow a tower: BLIP-2 with Flan-T5.
TEST(FamilyStacks, ATowerMayStandBeforeAnEncoder) {
  EXPECT_EQ(config_message(R"({"model_type": "blip-2", "text_config": {"model_type": "t5"}})"), "no error");
}

// What the file leaves out is wrong by the defaults of its type.
TEST(FamilyStacks, DefaultsThatDoNotFitNameTheType) {
  EXPECT_EQ(config_message(R"({"model_type": "glm4v_moe", "num_attention_heads": 12, "hidden_size": 768})"),
            "config.json: line 1, model_type: by the defaults of this type, num_key_value_heads: 12 "
            "attention heads "
            "cannot share 8 key-value heads; num_attention_heads must be a multiple of num_key_value_heads");
}

}  // namespace
}  // namespace nest::model
