#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/model/hub/test_configs.hpp"

namespace nest::model {
namespace {

TEST(HubGpt, TheFeedForwardIsFourTimesHiddenUnlessSaid) {
  EXPECT_EQ(spec_of(R"({"model_type": "gpt2", "n_embd": 1024, "n_head": 16})").stacks[0].blocks[0].ffn.ffn,
            4096);
  EXPECT_EQ(spec_of(R"({"model_type": "gpt2", "n_inner": 1000})").stacks[0].blocks[0].ffn.ffn, 1000);
}

TEST(HubGpt, NeoxWithoutParallelResidualIsPreNorm) {
  EXPECT_EQ(
      spec_of(R"({"model_type": "gpt_neox", "use_parallel_residual": false})").stacks[0].blocks[0].layout,
      NormLayout::pre);
  EXPECT_EQ(spec_of(R"({"model_type": "gpt_neox"})").stacks[0].blocks[0].layout, NormLayout::parallel_two);
}

// OPT-350m: a narrow token table with projections, norms after, none at the end.
TEST(HubGpt, Opt350mIsAnException) {
  const ModelSpec spec =
      spec_of(R"({"model_type": "opt", "hidden_size": 1024, "num_attention_heads": 16, "ffn_dim": 4096,
      "num_hidden_layers": 24, "word_embed_proj_dim": 512, "do_layer_norm_before": false})");
  EXPECT_EQ(spec.stacks[0].stem.width, 512);
  EXPECT_EQ(spec.head.projection, 512);
  EXPECT_FALSE(spec.stacks[0].final_norm);
  EXPECT_EQ(build_model(spec).parameters(), 331'196'416);
}

// 12 blocks of 2 norms and the last one, each with weight and bias of 768.
TEST(HubGpt, OptsNormsMayHaveNoParameters) {
  EXPECT_EQ(parameters_of(R"({"model_type": "opt", "layer_norm_elementwise_affine": false})"),
            parameters_of(R"({"model_type": "opt"})") - 25 * 2 * 768);
}

TEST(HubGpt, AttentionToAnEncoderIsRefused) {
  EXPECT_EQ(config_message(R"({"model_type": "gpt2", "add_cross_attention": true})"),
            "config.json: line 1, add_cross_attention: the attention to an encoder is not described here");
}

TEST(HubGpt, PhisHeadHasABias) {
  EXPECT_TRUE(spec_of(R"({"model_type": "phi"})").head.bias);
  // qk_layernorm: weight and bias of 64 for q and k in each of 24 layers
  EXPECT_EQ(parameters_of(R"({"model_type": "phi", "qk_layernorm": true})"), 1'418'270'720 + 24 * 4 * 64);
}

}  // namespace
}  // namespace nest::model
