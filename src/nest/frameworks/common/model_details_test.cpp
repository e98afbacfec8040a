#include "nest/frameworks/common/model_details.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "nest/frameworks/test_details.hpp"
#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

std::string value(const char* model, const char* key) {
  return find_model_detail(key)->value(zoo_model(model));
}

// Every row on a model that has it. The figures are those of the models' config.json.
TEST(ModelDetails, OfRealModels) {
  EXPECT_EQ(value("llama3.1-8b", "rotary_base"), "500000");
  EXPECT_EQ(value("llama3.1-8b", "rotary_scaling"), "Llama 3, 8 times of 8192, 1 to 4");
  EXPECT_EQ(value("llama3.1-8b", "norm_epsilon"), "1e-05");
  EXPECT_EQ(value("phi-2", "rotary_share"), "0.4");
  EXPECT_EQ(value("phi-2", "layout"), "attention and feed-forward side by side");
  EXPECT_EQ(value("gemma2-9b", "attention_cap"), "50");
  EXPECT_EQ(value("gemma2-9b", "logit_cap"), "30");
  EXPECT_EQ(value("gemma2-9b", "attention_scale"), "") << "256 is the width of its heads";
  EXPECT_EQ(value("gemma2-9b", "embedding_scale"), "59.8665") << "the root of 3584";
  EXPECT_EQ(value("gemma2-9b", "windows"), "4096 in 21 of 42 layers");
  EXPECT_EQ(value("gemma3-27b", "local_rotary_base"), "10000, without scaling");
  EXPECT_EQ(value("gemma3-27b", "rotary_scaling"), "linear, 8 times");
  EXPECT_EQ(value("gemma3-27b", "attention_scale"), "0.0771517") << "one over the root of 168";
  EXPECT_EQ(value("gpt-oss-120b", "sinks"), "in all layers");
  EXPECT_EQ(value("gpt-oss-120b", "activation"), "SwiGLU, x * sigmoid(1.702 x), cut at 7, its values plus 1");
  EXPECT_EQ(value("gpt-oss-120b", "biases"), "attention's output, experts, k, q, router, v");
  EXPECT_EQ(value("gpt-oss-120b", "rotary_scaling"),
            "YaRN, 32 times of 4096, betas 32 and 1, mscale 1 and 0, ends not rounded");
  EXPECT_EQ(value("qwen3-8b", "head_norms"), "RMS in all layers");
  EXPECT_EQ(value("olmo2-7b", "head_norms"), "RMS over all heads in all layers");
  EXPECT_EQ(value("olmo2-7b", "layout"), "after each branch");
  EXPECT_EQ(value("qwen3-next-80b-a3b", "output_gate"), "256 values of each head");
  EXPECT_EQ(value("qwen3-next-80b-a3b", "delta_rule"), "in 36 of 48 layers");
  EXPECT_EQ(value("deepseek-v3.2", "indexer"), "64 heads of 128 choose 2048 keys in all layers");
  EXPECT_EQ(value("deepseek-v3", "scores"), "sigmoids, the chosen ones add up to 1");
  EXPECT_EQ(value("deepseek-v3", "groups"), "4 of 8");
  EXPECT_EQ(value("deepseek-v3", "router_scale"), "2.5");
  EXPECT_EQ(value("deepseek-v3", "balance_bias"), "one for each");
  EXPECT_EQ(value("deepseek-v3", "mtp"), "1");
  EXPECT_EQ(value("kimi-k2", "groups"), "");
  EXPECT_EQ(value("glm-4.5", "balance_bias"), "one for each");
  EXPECT_EQ(value("granite-3.3-8b", "embedding_scale"), "12");
  EXPECT_EQ(value("granite-3.3-8b", "attention_scale"), "0.0078125");
  EXPECT_EQ(value("granite-3.3-8b", "residual_scale"), "0.22");
  EXPECT_EQ(value("granite-3.3-8b", "logit_scale"), "0.0625") << "one over 16";
  EXPECT_EQ(value("smollm3-3b", "unturned"), "in 9 of 36 layers");
  EXPECT_EQ(value("llama4-scout", "windows"), "chunks of 8192 in 36 of 48 layers");
  EXPECT_EQ(value("llama4-scout", "temperature"), "0.1 for each 8192 positions");
  EXPECT_EQ(value("llama4-scout", "head_norms"), "without parameters in 36 of 48 layers");
  EXPECT_EQ(value("llama4-scout", "weights_on_input"), "1");
  EXPECT_EQ(value("qwen1.5-moe-a2.7b", "shared_gate"), "one value for each token");
  EXPECT_EQ(value("mixtral-8x7b", "balance_loss"), "0.02");
  EXPECT_EQ(value("bert-base", "stem"), "2 token types, a norm");
  EXPECT_EQ(value("bert-base", "direction"), "in all layers");
  EXPECT_EQ(value("phi-2", "head"), "with a bias");
  EXPECT_EQ(value("minimax-m2", "scores"), "sigmoids, the chosen ones add up to 1");
}

TEST(ModelDetails, KeysAreUnlike) {
  std::set<std::string_view> keys;
  for (const ModelDetail& detail : model_details()) EXPECT_TRUE(keys.insert(detail.key).second) << detail.key;
  EXPECT_EQ(find_model_detail("nothing"), nullptr);
}

TEST(ModelDetails, AreNamedWithTheirValues) {
  const ModelSpec gemma = zoo_model("gemma2-9b");
  EXPECT_EQ(left_out(*find_model_detail("logit_cap"), gemma), "left out: the soft cap of the logits, 30");
  EXPECT_TRUE(differing_details(gemma, gemma, "it").empty());
  EXPECT_EQ(differing_details(zoo_model("llama3-8b"), zoo_model("llama3.1-8b"), "Llama 3.1"),
            std::vector<std::string>{
                "the scaling of rotary positions: Llama 3.1 has Llama 3, 8 times of 8192, 1 to 4, "
                "the model none"});
}

// Each change of a detail is seen by one of the rows.
TEST(ModelDetails, SeeEveryChange) {
  for (const char* name : {"llama3.1-8b", "gemma2-9b", "gpt-oss-120b", "deepseek-v3", "qwen3-next-80b-a3b",
                           "phi-2", "gpt2-xl", "granite-3.3-8b", "qwen1.5-moe-a2.7b"}) {
    const ModelSpec spec = zoo_model(name);
    for (const test::DetailChange& change : test::detail_changes()) {
      ModelSpec other = spec;
      if (!change.make(other)) continue;
      EXPECT_FALSE(differing_details(spec, other, "it").empty()) << name << ": " << change.name;
    }
  }
}

}  // namespace
}  // namespace nest::frameworks
