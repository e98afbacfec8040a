#include "nest/frameworks/maxtext/maxtext_details.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/frameworks/common/model_details.hpp"
#include "nest/frameworks/maxtext/maxtext_models.hpp"
#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

struct Described {
  Value keys;
  std::vector<std::string> lost;
};

Described described(const ModelSpec& spec) {
  Described out;
  out.keys = maxtext_model_keys(spec, out.lost);
  return out;
}

TEST(MaxTextDetails, AreKeys) {
  const Described gemma = described(zoo_model("gemma2-9b"));
  EXPECT_EQ(*gemma.keys.find("attn_logits_soft_cap")->as_real(), 50);
  EXPECT_EQ(*gemma.keys.find("final_logits_soft_cap")->as_real(), 30);
  EXPECT_EQ(*gemma.keys.find("sliding_window_size")->as_int(), 4096);
  EXPECT_TRUE(*gemma.keys.find("use_post_attn_norm")->as_bool());
  EXPECT_EQ(gemma.keys.find("normalize_embedding_logits"), nullptr);
  EXPECT_TRUE(gemma.lost.empty()) << gemma.lost.front();
  const Described llama = described(zoo_model("llama3.1-8b"));
  EXPECT_EQ(*llama.keys.find("rope_type")->as_string(), "llama3.1");
  EXPECT_EQ(*llama.keys.find("rope_max_timescale")->as_int(), 500000);
  EXPECT_TRUE(llama.lost.empty());
  EXPECT_FALSE(*described(zoo_model("qwen3-0.6b")).keys.find("normalize_embedding_logits")->as_bool());
  const Described lite = described(zoo_model("deepseek-v2-lite"));
  EXPECT_EQ(*lite.keys.find("rope_type")->as_string(), "yarn");
  EXPECT_EQ(*lite.keys.find("rope_factor")->as_int(), 40);
  EXPECT_EQ(*lite.keys.find("max_position_embeddings")->as_int(), 163840) << "40 times 4,096";
  EXPECT_EQ(*lite.keys.find("routed_score_func")->as_string(), "softmax");
  EXPECT_EQ(*described(zoo_model("mixtral-8x7b")).keys.find("load_balance_loss_weight")->as_real(), 0.02);
  EXPECT_TRUE(*described(zoo_model("qwen2.5-7b")).keys.find("attention_bias")->as_bool());
}

TEST(MaxTextDetails, NameWhatHasNoKey) {
  EXPECT_THAT(
      described(zoo_model("llama3.2-1b")).lost,
      testing::ElementsAre("left out: the scaling of rotary positions, Llama 3, 32 times of 8192, 1 to 4"));
  EXPECT_THAT(described(zoo_model("mistral-7b")).lost,
              testing::ElementsAre("left out: sliding windows, 4096 in all layers"));
  EXPECT_THAT(described(zoo_model("deepseek-v3")).lost,
              testing::IsSupersetOf({"left out: the bias of the router that balances experts, one for each",
                                     "left out: the groups of experts, 4 of 8",
                                     "left out: modules for multi-token prediction, 1"}));
}

TEST(MaxTextDetails, OfItsOwnModels) {
  EXPECT_FALSE(maxtext_own_model("llama3.3-70b").details.scaling);
  EXPECT_TRUE(maxtext_own_model("llama3.1-70b").details.scaling);
  EXPECT_EQ(maxtext_own_model("mistral-7b").details.rotary_base, 1e6);
  EXPECT_TRUE(differing_details(zoo_model("gemma2-9b"), maxtext_own_model("gemma2-9b"), "it").empty());
}

}  // namespace
}  // namespace nest::frameworks
