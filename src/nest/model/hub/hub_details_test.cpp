#include "nest/model/hub/hub_details.hpp"

#include <gtest/gtest.h>

#include "nest/model/zoo.hpp"

namespace nest::model {
namespace {

ModelDetails details(const char* type, const std::string& json) {
  const Document document = parse_json("x.json", json);
  Reader r(document);
  return read_details(r, type);
}

TEST(HubDetails, ClassDefaultsStandIn) {
  EXPECT_EQ(details("llama", "{}").norm_epsilon, 1e-6);
  EXPECT_EQ(details("llama", "{}").rotary_base, 1e4);
  EXPECT_EQ(details("mixtral", "{}").rotary_base, 1e6);
  EXPECT_EQ(details("phi", "{}").rotary_share, 0.5);
  EXPECT_EQ(details("gpt2", "{}").rotary_base, 0);
  EXPECT_FALSE(details("qwen3_moe", "{}").router.normalized);
  EXPECT_EQ(details("deepseek_v3", "{}").router.groups, 8);
  EXPECT_EQ(details("whisper", "{}").norm_epsilon, 0);
}

TEST(HubDetails, BothSpellingsOfRotaryPositions) {
  const ModelDetails old =
      details("llama", R"({"rope_theta": 500000.0, "rope_scaling": {"rope_type": "llama3",
      "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}})");
  EXPECT_EQ(old.rotary_base, 5e5);
  EXPECT_EQ(old.scaling->kind, RotaryScaling::Kind::llama3);
  EXPECT_EQ(old.scaling->factor, 32);
  EXPECT_EQ(old.scaling->original_positions, 8192);
  const ModelDetails renamed =
      details("qwen2", R"({"rope_parameters": {"rope_theta": 1000000, "rope_type": "yarn",
      "factor": 4, "beta_fast": 16}})");
  EXPECT_EQ(renamed.rotary_base, 1e6);
  EXPECT_EQ(renamed.scaling->kind, RotaryScaling::Kind::yarn);
  EXPECT_EQ(renamed.scaling->beta_fast, 16);
  EXPECT_FALSE(
      details("llama", R"({"rope_parameters": {"rope_type": "default", "rope_theta": 1e4}})").scaling);
  EXPECT_FALSE(details("llama", R"({"rope_scaling": null})").scaling);
  EXPECT_EQ(details("llama", R"({"rope_scaling": {"type": "linear", "factor": 2}})").scaling->kind,
            RotaryScaling::Kind::linear);
}

TEST(HubDetails, AGroupForEachKindOfLayer) {
  const ModelDetails d = details("llama", R"({"rope_parameters": {
      "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
      "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}})");
  EXPECT_EQ(d.rotary_base, 1e6);
  EXPECT_EQ(d.scaling->factor, 8);
  EXPECT_EQ(d.numbers.at("local_rotary_base"), 1e4);
  EXPECT_EQ(details("llama", R"({"rope_local_base_freq": 5000})").numbers.at("local_rotary_base"), 5000);
}

// Null turns a cap off, and no key is the class's value.
TEST(HubDetails, CapsOfGemma2) {
  EXPECT_EQ(details("gemma2", "{}").numbers.at("attention_cap"), 50);
  EXPECT_EQ(details("gemma2", R"({"attn_logit_softcapping": null})").numbers.at("attention_cap"), 0);
  EXPECT_EQ(details("gemma2", R"({"final_logit_softcapping": 20})").numbers.at("logit_cap"), 20);
  EXPECT_EQ(details("gemma", R"({"hidden_size": 2500})").numbers.at("embedding_scale"), 50);
  EXPECT_TRUE(details("llama", "{}").numbers.empty());
}

TEST(HubDetails, ScoresOfRouters) {
  EXPECT_TRUE(details("deepseek_v3", "{}").router.sigmoid);
  EXPECT_TRUE(details("deepseek_v3", "{}").router.balance_bias);
  EXPECT_FALSE(details("deepseek_v3", R"({"scoring_func": "softmax"})").router.sigmoid);
  const ModelDetails v2 =
      details("deepseek_v2", R"({"topk_method": "greedy", "n_group": 8, "topk_group": 3})");
  EXPECT_FALSE(v2.router.sigmoid);
  EXPECT_EQ(v2.router.groups, 0) << "greedy routers look at all experts";
  EXPECT_FALSE(details("deepseek_v3", R"({"topk_method": "greedy"})").router.balance_bias);
}

TEST(HubDetails, WhatIsNoNumberIsPassedOver) {
  const ModelDetails d = details("llama", R"({"rope_theta": "big", "rms_norm_eps": [], "rope_scaling": 3})");
  EXPECT_EQ(d.rotary_base, 1e4);
  EXPECT_EQ(d.norm_epsilon, 1e-6);
  EXPECT_FALSE(d.scaling);
}

TEST(HubDetails, TheZooHasThem) {
  const ModelDetails v3 = zoo_model("deepseek-v3").details;
  EXPECT_EQ(v3.router.groups, 8);
  EXPECT_EQ(v3.router.group_top_k, 4);
  EXPECT_EQ(v3.router.scale, 2.5);
  EXPECT_EQ(v3.scaling->factor, 40);
  EXPECT_EQ(v3.scaling->mscale_all, 1);
  EXPECT_TRUE(v3.router.balance_by_sequence);
  const ModelDetails v2 = zoo_model("deepseek-v2").details;
  EXPECT_EQ(v2.router.scale, 16);
  EXPECT_FALSE(v2.router.normalized);
  EXPECT_EQ(zoo_model("llama3.1-8b").details.rotary_base, 5e5);
  EXPECT_EQ(zoo_model("llama3.2-1b").details.scaling->factor, 32);
  EXPECT_FALSE(zoo_model("llama3-8b").details.scaling);
  EXPECT_EQ(zoo_model("llama2-70b").details.norm_epsilon, 1e-5);
  EXPECT_EQ(zoo_model("phi-2").details.rotary_share, 0.4);
  EXPECT_TRUE(zoo_model("qwen3-30b-a3b").details.router.normalized);
  EXPECT_EQ(zoo_model("mixtral-8x7b").details.router.balance_loss, 0.02);
}

}  // namespace
}  // namespace nest::model
