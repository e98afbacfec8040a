#include <gtest/gtest.h>

#include "nest/frameworks/common/detail_text.hpp"
#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

std::string of_attention(const char* model, const char* key) {
  return find_model_detail(key)->value(zoo_model(model));
}

// On models that have them. The figures are those of the models' config.json.
TEST(AttentionDetails, OfRealModels) {
  EXPECT_EQ(of_attention("llama3.1-8b", "rotary_base"), "500000");
  EXPECT_EQ(of_attention("llama3.1-8b", "rotary_scaling"), "Llama 3, 8 times of 8192, 1 to 4");
  EXPECT_EQ(of_attention("phi-2", "rotary_share"), "0.4");
  EXPECT_EQ(of_attention("gemma2-9b", "attention_cap"), "50");
  EXPECT_EQ(of_attention("gemma2-9b", "attention_scale"), "") << "256 is the width of its heads";
  EXPECT_EQ(of_attention("gemma2-9b", "windows"), "4096 in 21 of 42 layers");
  EXPECT_EQ(of_attention("gemma3-27b", "local_rotary_base"), "10000, without scaling");
  EXPECT_EQ(of_attention("gemma3-27b", "rotary_scaling"), "linear, 8 times");
  EXPECT_EQ(of_attention("gemma3-27b", "attention_scale"), "0.0771517") << "one over the root of 168";
  EXPECT_EQ(of_attention("gpt-oss-120b", "sinks"), "in all layers");
  EXPECT_EQ(of_attention("gpt-oss-120b", "rotary_scaling"),
            "YaRN, 32 times of 4096, betas 32 and 1, mscale 1 and 0, ends not rounded");
  EXPECT_EQ(of_attention("qwen3-8b", "head_norms"), "RMS in all layers");
  EXPECT_EQ(of_attention("olmo2-7b", "head_norms"), "RMS over all heads in all layers");
  EXPECT_EQ(of_attention("qwen3-next-80b-a3b", "output_gate"), "256 values of each head");
  EXPECT_EQ(of_attention("deepseek-v3.2", "indexer"), "64 heads of 128 choose 2048 keys in all layers");
  EXPECT_EQ(of_attention("granite-3.3-8b", "attention_scale"), "0.0078125");
  EXPECT_EQ(of_attention("smollm3-3b", "unturned"), "in 9 of 36 layers");
  EXPECT_EQ(of_attention("llama4-scout", "windows"), "chunks of 8192 in 36 of 48 layers");
  EXPECT_EQ(of_attention("llama4-scout", "temperature"), "0.1 for each 8192 positions");
  EXPECT_EQ(of_attention("llama4-scout", "head_norms"), "without parameters in 36 of 48 layers");
  EXPECT_EQ(of_attention("bert-base", "direction"), "in all layers");
}

// A model that has no attention has none of its details.
TEST(AttentionDetails, OfNone) {
  for (const ModelDetail& detail : attention_details())
    EXPECT_EQ(detail.value(zoo_model("mamba2-2.7b")), "") << detail.key;
}

}  // namespace
}  // namespace nest::frameworks
