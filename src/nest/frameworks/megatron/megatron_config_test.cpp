#include "nest/frameworks/megatron/megatron_config.hpp"

#include <gtest/gtest.h>

#include "nest/frameworks/megatron/megatron_model.hpp"
#include "nest/model/blocks/build.hpp"
#include "nest/model/hub/hub_config.hpp"
#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

std::vector<Flag> flags_of(const std::string& name) {
  std::vector<std::string> lost;
  std::vector<Flag> flags = megatron_model_flags(zoo_model(name), {}, lost).flags;
  flags.push_back({"--max-position-embeddings", {std::to_string(zoo_model(name).positions)}});
  return flags;
}

double parameters(const MegatronConfig& built) {
  Warnings warnings;
  const ModelSpec spec = read_hub_config(parse_json("x", to_json(built.config)), "x", warnings);
  EXPECT_TRUE(warnings.empty());
  return static_cast<double>(build_model(spec).parameters());
}

// A model built from flags has the same parameters.
TEST(MegatronConfig, BuildsPlainModels) {
  for (const char* name : {"llama3.1-8b", "gpt3-13b", "mixtral-8x7b", "qwen2.5-7b", "qwen3-8b", "llama3.2-1b",
                           "qwen3-30b-a3b"}) {
    const MegatronConfig built = config_of(flags_of(name));
    ASSERT_FALSE(built.config.is_null()) << name << ": " << built.reason;
    EXPECT_TRUE(built.assumed.empty()) << name << ": " << built.assumed.front();
    EXPECT_EQ(parameters(built), static_cast<double>(build_model(zoo_model(name)).parameters())) << name;
  }
}

// Latent attention, shared experts and dense first layers; what the nearest family has otherwise is little.
TEST(MegatronConfig, BuildsOthersAsTheNearest) {
  for (const char* name :
       {"deepseek-v3", "deepseek-v2-lite", "gemma2-27b", "gpt-neox-20b", "qwen2-57b-a14b"}) {
    const MegatronConfig built = config_of(flags_of(name));
    ASSERT_FALSE(built.config.is_null()) << name << ": " << built.reason;
    const auto own = static_cast<double>(build_model(zoo_model(name)).parameters());
    EXPECT_NEAR(parameters(built), own, 1e-3 * own) << name;
  }
}

TEST(MegatronConfig, AssumesAVocabularyAndSaysSo) {
  const std::string flags = "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --seq-length 128 ";
  const MegatronConfig plain = config_of(read_flags(flags));
  ASSERT_EQ(plain.assumed.size(), 1U);
  EXPECT_EQ(plain.assumed[0],
            "--vocab-size is missing, because the tokenizer says it: 50257 tokens are assumed");
  const MegatronConfig llama = config_of(read_flags(flags + "--tokenizer-model meta-llama/Llama-3.1-8B"));
  EXPECT_NE(llama.assumed[0].find("128256"), std::string::npos);
}

// Two matrices are as many parameters as three of two thirds of the width.
TEST(MegatronConfig, WithoutAGate) {
  const MegatronConfig built = config_of(read_flags(
      "--num-layers 4 --hidden-size 96 --num-attention-heads 4 --num-query-groups 2 --group-query-attention "
      "--ffn-hidden-size 384 --normalization RMSNorm --position-embedding-type rope --disable-bias-linear "
      "--vocab-size 1000 --untie-embeddings-and-output-weights"));
  ASSERT_EQ(built.assumed.size(), 1U) << built.reason;
  EXPECT_NE(built.assumed[0].find("two thirds"), std::string::npos);
  EXPECT_EQ(parameters(built), 2 * 1000 * 96 + 96 + 4 * (2 * 96 * 96 + 2 * 96 * 48 + 2 * 96 * 384 + 2 * 96));
}

TEST(MegatronConfig, SaysWhyNot) {
  EXPECT_EQ(config_of(read_flags("--num-layers 4")).reason,
            "the flags describe no model: --hidden-size is missing");
  EXPECT_EQ(config_of(read_flags("--hybrid-layer-pattern M*M --num-layers 3")).reason,
            "state-space layers are not known here (--hybrid-layer-pattern)");
  EXPECT_EQ(config_of(read_flags("--num-layers 4 --hidden-size 64 --num-attention-heads 4 --num-experts 4 "
                                 "--moe-layer-freq [0]*9"))
                .reason,
            "--moe-layer-freq: '[0]*9' is not understood");
}

TEST(MegatronConfig, ExpertLayers) {
  EXPECT_EQ(expert_layers("2", 4), (std::vector<bool>{true, false, true, false}));
  EXPECT_EQ(expert_layers("([0]*1+[1]*2)", 3), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(expert_layers("[0,1]*2", 4), (std::vector<bool>{false, true, false, true}));
  EXPECT_TRUE(expert_layers("[0]*1+[1]*2", 4).empty());
  EXPECT_TRUE(expert_layers("what", 4).empty());
  EXPECT_TRUE(expert_layers("[1]*99999999999", 4).empty());
}

}  // namespace
}  // namespace nest::frameworks
