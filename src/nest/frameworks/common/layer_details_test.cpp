#include <gtest/gtest.h>

#include "nest/frameworks/common/detail_text.hpp"
#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

std::string of_layers(const char* model, const char* key) {
  return find_model_detail(key)->value(zoo_model(model));
}

// On models that have them. The figures are those of the models' config.json.
TEST(LayerDetails, OfRealModels) {
  EXPECT_EQ(of_layers("llama3.1-8b", "norm_epsilon"), "1e-05");
  EXPECT_EQ(of_layers("phi-2", "layout"), "attention and feed-forward side by side");
  EXPECT_EQ(of_layers("gemma2-9b", "logit_cap"), "30");
  EXPECT_EQ(of_layers("gemma2-9b", "embedding_scale"), "59.8665") << "the root of 3584";
  EXPECT_EQ(of_layers("gpt-oss-120b", "activation"),
            "SwiGLU, x * sigmoid(1.702 x), cut at 7, its values plus 1");
  EXPECT_EQ(of_layers("gpt-oss-120b", "biases"), "attention's output, experts, k, q, router, v");
  EXPECT_EQ(of_layers("olmo2-7b", "layout"), "after each branch");
  EXPECT_EQ(of_layers("qwen3-next-80b-a3b", "delta_rule"), "in 36 of 48 layers");
  EXPECT_EQ(of_layers("deepseek-v3", "scores"), "sigmoids, the chosen ones add up to 1");
  EXPECT_EQ(of_layers("deepseek-v3", "groups"), "4 of 8");
  EXPECT_EQ(of_layers("deepseek-v3", "router_scale"), "2.5");
  EXPECT_EQ(of_layers("deepseek-v3", "balance_bias"), "one for each");
  EXPECT_EQ(of_layers("deepseek-v3", "mtp"), "1");
  EXPECT_EQ(of_layers("kimi-k2", "groups"), "");
  EXPECT_EQ(of_layers("glm-4.5", "balance_bias"), "one for each");
  EXPECT_EQ(of_layers("granite-3.3-8b", "embedding_scale"), "12");
  EXPECT_EQ(of_layers("granite-3.3-8b", "residual_scale"), "0.22");
  EXPECT_EQ(of_layers("granite-3.3-8b", "logit_scale"), "0.0625") << "one over 16";
  EXPECT_EQ(of_layers("llama4-scout", "weights_on_input"), "as factors");
  EXPECT_EQ(of_layers("qwen1.5-moe-a2.7b", "shared_gate"), "one value for each token");
  EXPECT_EQ(of_layers("mixtral-8x7b", "balance_loss"), "0.02");
  EXPECT_EQ(of_layers("bert-base", "stem"), "2 token types, a norm");
  EXPECT_EQ(of_layers("phi-2", "head"), "with a bias");
  EXPECT_EQ(of_layers("minimax-m2", "scores"), "sigmoids, the chosen ones add up to 1");
}

TEST(LayerDetails, BlocksThatDiffer) {
  ModelSpec spec = zoo_model("llama3.1-8b");
  EXPECT_EQ(find_model_detail("unlike")->value(spec), "");
  spec.stacks.front().blocks.back().ffn.ffn *= 2;
  spec.stacks.front().blocks.back().attention.heads *= 2;
  EXPECT_EQ(find_model_detail("unlike")->value(spec), "heads, widths of feed-forwards");
}

}  // namespace
}  // namespace nest::frameworks
