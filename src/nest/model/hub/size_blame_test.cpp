#include "nest/model/hub/size_blame.hpp"

#include <gtest/gtest.h>

#include "nest/model/hub/test_configs.hpp"

namespace nest::model {
namespace {

TEST(SizeBlame, NamesTheNumberWithoutWhichTheSizesAreSane) {
  EXPECT_EQ(config_message(R"({"model_type": "mixtral", "num_local_experts": 900000})"), "no error");
  // The positions are more, and without them the layer would be as large.
  EXPECT_EQ(config_message(R"({"model_type": "mixtral", "max_position_embeddings": 10000000,
                               "hidden_size": 4096,
                               "num_local_experts": 9000000, "intermediate_size": 1000000})"),
            "config.json: line 3, num_local_experts: 9000000 is too much: the layer 'layer with experts' "
            "would have "
            "more than 1,000,000,000,000,000 values in 'experts.gate_up.gate.weight'");
}

// Each layer is sane, and all together are not: 10,000 times 3 * 4e6 * 1e7 of the feed-forward and 4 * 4e6 * 4,096 of attention
// with norms, and 2 * 32,000 * 4e6 of the ends.
TEST(SizeBlame, TheWholeModelHasALimitToo) {
  EXPECT_EQ(config_message(R"({"model_type": "llama", "num_hidden_layers": 10000, "hidden_size": 4000000,
                               "num_attention_heads": 32, "head_dim": 128, "intermediate_size": 10000000})"),
            "config.json: line 2, intermediate_size: 10000000 is too much: the model would have "
            "1,200,655,696,004,000,000 "
            "parameters, more than 100,000,000,000,000,000");
}

TEST(SizeBlame, SizesInPartsHaveRanges) {
  EXPECT_EQ(config_message(R"({"model_type": "blip-2", "qformer_config": {"hidden_size": 768000000}})"),
            "config.json: line 1, qformer_config.hidden_size: a size of 768000000 is outside 1 to 10000000");
  EXPECT_EQ(
      config_message(R"({"model_type": "llama4", "vision_config": {"projector_output_dim": 4096000000}})"),
      "config.json: line 1, vision_config.projector_output_dim: a size of 4096000000 is outside 1 to "
      "10000000");
  EXPECT_EQ(
      config_message(R"({"model_type": "doge", "num_key_value_heads": 8000000})"),
      "config.json: line 1, num_key_value_heads: 8000000 is too much: the layer 'layer' would have more than "
      "1,000,000,000,000,000 values in 'mask.weight'");
}

}  // namespace
}  // namespace nest::model
