#include "nest/model/hub/family_blocks.hpp"

#include <gtest/gtest.h>

#include "nest/model/hub/test_configs.hpp"
#include "nest/model/zoo.hpp"

namespace nest::model {
namespace {

// All modules of a model together.
std::int64_t modules_of(const ModelSpec& spec) {
  const Model model = build_model(spec, {.sequence = 64, .mtp = true});
  for (const ApartParameters& apart : model.apart) {
    if (apart.name == "mtp") return apart.parameters;
  }
  return 0;
}

std::int64_t modules_of(const std::string& json) {
  return modules_of(spec_of(json));
}

TEST(FamilyBlocks, WhatABlockCannotBeIsNamed) {
  EXPECT_EQ(config_message(R"({"model_type": "olmoe", "num_experts_per_tok": 65})"),
            "config.json: line 1, num_experts_per_tok: a token cannot use 65 of 64 experts");
  EXPECT_EQ(config_message(R"({"model_type": "cohere", "hidden_act": "siloo"})"),
            "config.json: line 1, hidden_act: the activation 'siloo' is not known");
}

// Groups that choose nothing are none: all of them are taken, or the experts do not divide.
TEST(FamilyBlocks, GroupsOfExpertsThatChooseNothingAreNone) {
  const auto groups = [](const char* said) {
    const ModelSpec spec =
        spec_of(std::string(R"({"model_type": "glm4_moe", "n_routed_experts": 128, )") + said + "}");
    return spec.stacks.back().blocks.back().experts->groups;
  };
  EXPECT_EQ(groups(R"("n_group": 8, "topk_group": 4)"), 8);
  EXPECT_EQ(groups(R"("n_group": 8, "topk_group": 8)"), 0);
  EXPECT_EQ(groups(R"("n_group": 1, "topk_group": 1)"), 0);
  EXPECT_EQ(groups(R"("n_group": 7, "topk_group": 2)"), 0);
}

// Modules for multi-token prediction. Transformers 5.23's MtpModel on the meta device: its parameters that are not the main model's.
TEST(FamilyBlocks, CountsAreThoseOfTransformers) {
  EXPECT_EQ(modules_of(R"({"model_type": "glm4_moe"})"), 2'301'775'872);
  EXPECT_EQ(modules_of(R"({"model_type": "mellum", "num_mtp_layers": 1})"), 428'371'456);
  EXPECT_EQ(modules_of(R"({"model_type": "step3p7", "text_config": {"num_nextn_predict_layers": 3,
                           "layer_types": null}})"),
            743'240'448);
  EXPECT_EQ(modules_of(R"({"model_type": "deepseek_v3"})"), 11'610'067'968);
}

// Any family of decoders with the usual key has modules like its last block.
TEST(FamilyBlocks, TheUsualKeyMakesThem) {
  for (const char* type : {"deepseek_v32", "glm_moe_dsa", "glm4_moe_lite", "hy_v3", "kimi_linear", "axk1"}) {
    const std::string json = std::string(R"({"model_type": ")") + type + R"(", "num_nextn_predict_layers": )";
    const std::int64_t one = modules_of(json + "1}");
    EXPECT_GT(one, 0) << type;
    EXPECT_EQ(modules_of(json + "2}"), 2 * one) << type;
    EXPECT_EQ(modules_of(json + "0}"), 0) << type;
    EXPECT_EQ(parameters_of(json + "2}"), parameters_of(json + "0}")) << type;
  }
}

// Published checkpoints have them whose config.json has no such key.
TEST(FamilyBlocks, OfCheckpointsWithoutTheKey) {
  EXPECT_EQ(zoo_model("qwen3-next-80b-a3b").mtp_layers, 1);
  EXPECT_EQ(zoo_model("qwen3.5-397b-a17b").mtp_layers, 1);
  EXPECT_EQ(spec_of(R"({"model_type": "qwen3_5_text", "mtp_num_hidden_layers": 0})").mtp_layers, 0);
  EXPECT_EQ(spec_of(R"({"model_type": "llama"})").mtp_layers, 0);
}

// MiMo V2 Flash: three dense modules with windows, 0.33 billion parameters each by its authors' account; K-EXAONE: a dense
// one of 0.52 billion. LongCat: one attention and one feed-forward in place of two.
TEST(FamilyBlocks, BlocksOfTheirOwn) {
  const ModelSpec mimo = spec_of(R"({"model_type": "mimo_v2_flash"})");
  ASSERT_EQ(mimo.mtp_layers, 3);
  EXPECT_FALSE(mimo.mtp_block->experts);
  EXPECT_EQ(mimo.mtp_block->attention.window, 128);
  EXPECT_NEAR(static_cast<double>(modules_of(mimo)), 3 * 0.33e9, 0.01e9);
  EXPECT_NEAR(static_cast<double>(modules_of(
                  R"({"model_type": "exaone_moe", "hidden_size": 6144, "intermediate_size": 18432,
                      "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128,
                      "num_nextn_predict_layers": 1})")),
              0.52e9, 0.02e9);
  const ModelSpec longcat = spec_of(R"({"model_type": "longcat_flash"})");
  ASSERT_EQ(longcat.mtp_layers, 1);
  EXPECT_FALSE(longcat.mtp_block->experts);
  EXPECT_EQ(longcat.mtp_block->steps.size(), 6U);
}

// Nemotron 3's module is attention and experts, which are two layers of the model.
TEST(FamilyBlocks, OfAHybrid) {
  const ModelSpec spec = spec_of(R"({"model_type": "nemotron_h", "num_nextn_predict_layers": 1,
                                     "layers_block_type": ["mamba", "mlp"]})");
  ASSERT_EQ(spec.mtp_layers, 1);
  EXPECT_TRUE(spec.mtp_block->experts);
  EXPECT_EQ(
      config_message(R"({"model_type": "nemotron_h", "num_nextn_predict_layers": 1,
                               "mtp_layers_block_type": ["mamba"]})"),
      "config.json: line 2, mtp_layers_block_type: the module for multi-token prediction is only known as "
      "attention and experts");
}

}  // namespace
}  // namespace nest::model
