#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/model/hub/test_configs.hpp"

namespace nest::model {
namespace {

TEST(HubVision, ViTWithAndWithoutAClassifier) {
  // ViTModel: encoder and pooler. Ten labels: a classifier of 10 * 769.
  EXPECT_EQ(parameters_of(R"({"model_type": "vit", "architectures": ["ViTModel"]})"), 86'389'248);
  EXPECT_EQ(parameters_of(R"({"model_type": "vit", "id2label": {"0": "a", "1": "b"}})"),
            86'567'656 - 998 * 769);
}

TEST(HubVision, TheSequenceFollowsFromImageAndPatch) {
  EXPECT_EQ(spec_of(R"({"model_type": "vit", "image_size": 384})").stacks[0].sequence, 24 * 24 + 1);
  EXPECT_EQ(config_message(R"({"model_type": "vit", "patch_size": 500})"),
            "config.json: line 1, patch_size: patches of 500 do not fit an image of 224");
}

TEST(HubVision, ClipHasTwoTowersOfTheirOwnShapes) {
  const ModelSpec spec =
      spec_of(R"({"model_type": "clip", "vision_config": {"hidden_size": 1024, "num_attention_heads": 16,
      "num_hidden_layers": 24, "intermediate_size": 4096, "patch_size": 14}})");
  ASSERT_EQ(spec.stacks.size(), 2U);
  EXPECT_EQ(spec.stacks[0].blocks.size(), 12U);
  EXPECT_EQ(spec.stacks[1].blocks.size(), 24U);
  EXPECT_EQ(spec.stacks[1].sequence, 257);
  EXPECT_TRUE(spec.stacks[0].blocks[0].attention.causal);
  EXPECT_FALSE(spec.stacks[1].blocks[0].attention.causal);
}

// openai/clip-vit-large-patch14 has both forms; the old one lies over the new one, class defaults included.
TEST(HubVision, ClipsOldKeysOverride) {
  const ModelSpec spec = spec_of(
      R"({"model_type": "clip", "text_config": {"hidden_size": 640, "vocab_size": 100},
          "text_config_dict": {"hidden_size": 768, "num_attention_heads": 12},
          "vision_config_dict": {"hidden_size": 1024, "num_attention_heads": 16}, "vision_config": null})");
  EXPECT_EQ(spec.stacks[0].hidden, 768);
  EXPECT_EQ(spec.stacks[0].stem.vocab, 49408);
  EXPECT_EQ(spec.stacks[1].hidden, 1024);
  EXPECT_EQ(
      spec_of(R"({"model_type": "clip", "text_config": {"hidden_size": 640}, "text_config_dict": null})")
          .stacks[0]
          .hidden,
      640);
}

}  // namespace
}  // namespace nest::model
