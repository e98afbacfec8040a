#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/model/hub/test_configs.hpp"

namespace nest::model {
namespace {

TEST(HubLlama, BiasesAndTiesCount) {
  // Four biases of 4096 in each of 32 layers; mlp: 2 * 11008 + 4096.
  EXPECT_EQ(parameters_of(R"({"model_type": "llama", "attention_bias": true})"),
            6'738'415'616 + 32 * 4 * 4096);
  EXPECT_EQ(parameters_of(R"({"model_type": "llama", "mlp_bias": true})"),
            6'738'415'616 + 32 * (2 * 11008 + 4096));
  EXPECT_EQ(parameters_of(R"({"model_type": "llama", "tie_word_embeddings": true})"),
            6'738'415'616 - 32000 * 4096);
}

TEST(HubLlama, DenseLayersAmongExperts) {
  const ModelSpec spec =
      spec_of(R"({"model_type": "qwen3_moe", "num_hidden_layers": 6, "decoder_sparse_step": 2,
                                  "mlp_only_layers": [3]})");
  std::vector<bool> experts;
  for (const BlockSpec& b : spec.stacks[0].blocks) experts.push_back(b.experts.has_value());
  EXPECT_THAT(experts, ::testing::ElementsAre(false, true, false, false, false, true));
}

TEST(HubLlama, SlidingWindows) {
  const auto window = [&](const std::string& json, std::size_t layer) {
    return spec_of(json).stacks[0].blocks[layer].attention.window;
  };
  EXPECT_EQ(window(R"({"model_type": "mistral"})", 0), 4096);
  EXPECT_EQ(window(R"({"model_type": "mistral", "sliding_window": null})", 0), 0);
  EXPECT_EQ(window(R"({"model_type": "qwen2", "sliding_window": 4096})", 31), 0);
  EXPECT_EQ(window(R"({"model_type": "qwen2", "sliding_window": 4096, "use_sliding_window": true})", 27), 0);
  EXPECT_EQ(window(R"({"model_type": "qwen2", "sliding_window": 4096, "use_sliding_window": true})", 28),
            4096);
}

TEST(HubLlama, WidthsMayDisagreeWithHeads) {
  // Mistral-Nemo: 32 heads of 128 beside a hidden size of 5120.
  const ModelSpec spec = spec_of(R"({"model_type": "mistral", "hidden_size": 5120, "head_dim": 128})");
  EXPECT_EQ(spec.stacks[0].blocks[0].attention.head_dim, 128);
  EXPECT_EQ(spec_of(R"({"model_type": "qwen3"})").stacks[0].blocks[0].attention.head_dim, 128);
}

TEST(HubLlama, OneKeyValueHead) {
  EXPECT_EQ(spec_of(R"({"model_type": "gemma", "num_attention_heads": 8, "num_key_value_heads": 1})")
                .stacks[0]
                .blocks[0]
                .attention.kv_heads,
            1);
}

}  // namespace
}  // namespace nest::model
