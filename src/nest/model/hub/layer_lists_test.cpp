#include "nest/model/hub/layer_lists.hpp"

#include <gtest/gtest.h>

#include "nest/model/hub/test_configs.hpp"

namespace nest::model {
namespace {

TEST(LayerLists, UnknownKindsAreRefusedWithTheKnownOnes) {
  EXPECT_EQ(config_message(R"({"model_type": "qwen3", "num_hidden_layers": 2,
                               "layer_types": ["full_attention", "mamba3"]})"),
            "config.json: line 2, layer_types: 'mamba3' is no kind of layer that a 'qwen3' has; known: "
            "full_attention, attention and sliding_attention");
  EXPECT_EQ(config_message(R"({"model_type": "qwen3_next", "num_hidden_layers": 1, "layer_types": ["kda"]})"),
            "config.json: line 1, layer_types: 'kda' is no kind of layer that a 'qwen3_next' has; known: "
            "full_attention, attention and linear_attention");
  EXPECT_EQ(config_message(R"({"model_type": "llama", "num_hidden_layers": 1, "layer_types": ["mamba"]})"),
            "config.json: line 1, layer_types: 'mamba' is no kind of layer that a 'llama' has; known: "
            "full_attention and attention");
  EXPECT_EQ(config_message(R"({"model_type": "nemotron_h", "hybrid_override_pattern": "M-X"})"),
            "config.json: line 1, hybrid_override_pattern: 'X' is no kind of layer that a 'nemotron_h' has; "
            "known: M, E, * and -");
  EXPECT_EQ(config_message(R"({"model_type": "gpt_oss", "num_hidden_layers": 1, "layer_types": [3]})"),
            "config.json: line 1, layer_types: '3' is no kind of layer that a 'gpt_oss' has; known: "
            "full_attention, attention and sliding_attention");
  EXPECT_EQ(config_message(R"({"model_type": "gpt_oss", "layer_types": {"0": "full_attention"}})"),
            "config.json: line 1, layer_types: a list with an entry for each layer is expected, not "
            "'{\"0\": \"full_attention\"}'");
}

TEST(LayerLists, TheyAreAsLongAsThereAreLayers) {
  EXPECT_EQ(config_message(R"({"model_type": "gpt_oss", "num_hidden_layers": 3,
                               "layer_types": ["full_attention", "full_attention"]})"),
            "config.json: line 2, layer_types: its length is 2, and the number of layers is 3");
  EXPECT_EQ(config_message(R"({"model_type": "qwen2", "num_hidden_layers": 1,
                               "layer_types": ["full_attention", "full_attention"]})"),
            "config.json: line 2, layer_types: its length is 2, and the number of layers is 1");
  EXPECT_EQ(config_message(R"({"model_type": "nemotron_h", "hybrid_override_pattern": "M-M*",
                               "num_hidden_layers": 8})"),
            "config.json: line 1, hybrid_override_pattern: its length is 4, and the number of layers is 8");
  EXPECT_EQ(config_message(R"({"model_type": "nemotron_h", "hybrid_override_pattern": "M-M*"})"), "no error");
  EXPECT_EQ(config_message(R"({"model_type": "recurrent_gemma", "block_types": ["recurrent"]})"), "no error")
      << "which repeats";
}

// An empty list is as good as none.
TEST(LayerLists, EmptyOnesSayNothing) {
  EXPECT_EQ(parameters_of(R"({"model_type": "gpt_oss", "num_hidden_layers": 2, "layer_types": []})"),
            parameters_of(R"({"model_type": "gpt_oss", "num_hidden_layers": 2})"));
}

TEST(LayerLists, LlamasRelativesHaveTheirWindowsFromThem) {
  const ModelSpec spec =
      spec_of(R"({"model_type": "qwen3", "num_hidden_layers": 2, "use_sliding_window": true,
      "sliding_window": 64, "max_window_layers": 0, "layer_types": ["full_attention", "sliding_attention"]})");
  EXPECT_EQ(spec.stacks[0].blocks[0].attention.window, 0);
  EXPECT_EQ(spec.stacks[0].blocks[1].attention.window, 64);
}

}  // namespace
}  // namespace nest::model
