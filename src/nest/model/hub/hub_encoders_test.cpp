#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/model/hub/test_configs.hpp"

namespace nest::model {
namespace {

TEST(HubEncoders, T5MayHaveStacksOfDifferentDepth) {
  const ModelSpec spec = spec_of(R"({"model_type": "t5", "num_layers": 8, "num_decoder_layers": 2})");
  EXPECT_EQ(spec.stacks[0].blocks.size(), 8U);
  EXPECT_EQ(spec.stacks[1].blocks.size(), 2U);
  EXPECT_EQ(spec.stacks[1].blocks[0].attention.position_buckets, 32);
  EXPECT_EQ(spec.stacks[1].blocks[1].attention.position_buckets, 0);
}

TEST(HubEncoders, T5sFeedForwards) {
  const auto activation = [](const std::string& name) {
    return spec_of(R"({"model_type": "t5", "feed_forward_proj": ")" + name + "\"}")
        .stacks[0]
        .blocks[0]
        .ffn.activation;
  };
  EXPECT_EQ(activation("relu"), Activation::relu);
  EXPECT_EQ(activation("gated-gelu"), Activation::geglu);
  EXPECT_EQ(activation("gated-silu"), Activation::swiglu);
  EXPECT_EQ(config_message(R"({"model_type": "t5", "feed_forward_proj": "gated-mish"})"),
            "config.json: line 1, feed_forward_proj: 'gated-mish' is not known; known: relu, gelu, "
            "gated-gelu, gated-silu");
}

// Transformers reads what it wrote of the word itself; the third product of the gate is 512 by 2,048 in 12 blocks.
TEST(HubEncoders, T5MayBeSaidToBeGated) {
  EXPECT_EQ(parameters_of(R"({"model_type": "t5", "is_gated_act": true})"),
            parameters_of(R"({"model_type": "t5"})") + 12 * 512 * 2048);
}

TEST(HubEncoders, T5sTablesAreTiedUnlessTheFileCountsBoth) {
  const std::string untied = R"({"model_type": "t5", "tie_word_embeddings": false)";
  EXPECT_EQ(parameters_of(untied + "}"), parameters_of(R"({"model_type": "t5"})"));
  EXPECT_EQ(parameters_of(untied + R"(, "nest": {"counts_both_tables": true}})"),
            parameters_of(R"({"model_type": "t5"})") + 32128 * 512);
}

TEST(HubEncoders, BertHasNoFinalNormAndNoCausalMask) {
  const ModelSpec spec = spec_of(R"({"model_type": "bert"})");
  EXPECT_FALSE(spec.stacks[0].final_norm);
  EXPECT_FALSE(spec.stacks[0].blocks[0].attention.causal);
  EXPECT_EQ(spec.head.kind, HeadSpec::Kind::masked);
}

TEST(HubEncoders, WhispersKeysHaveNoBias) {
  const AttentionSpec a = spec_of(R"({"model_type": "whisper"})").stacks[1].blocks[0].attention;
  EXPECT_TRUE(a.query_bias);
  EXPECT_FALSE(a.key_bias);
}

}  // namespace
}  // namespace nest::model
