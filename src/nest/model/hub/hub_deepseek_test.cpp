#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nest/model/hub/test_configs.hpp"

namespace nest::model {
namespace {

TEST(HubDeepseek, LeadingLayersAreDense) {
  const ModelSpec spec =
      spec_of(R"({"model_type": "deepseek_v3", "num_hidden_layers": 5, "first_k_dense_replace": 2})");
  std::vector<bool> experts;
  for (const BlockSpec& b : spec.stacks[0].blocks) experts.push_back(b.experts.has_value());
  EXPECT_THAT(experts, ::testing::ElementsAre(false, false, true, true, true));
  EXPECT_EQ(spec.mtp_layers, 1);
}

TEST(HubDeepseek, ANullRankProjectsQueriesInOneStep) {
  EXPECT_EQ(spec_of(R"({"model_type": "deepseek_v3", "q_lora_rank": null})")
                .stacks[0]
                .blocks[0]
                .attention.latent->query_rank,
            0);
  EXPECT_EQ(spec_of(R"({"model_type": "deepseek_v3"})").stacks[0].blocks[0].attention.latent->query_rank,
            1536);
}

TEST(HubDeepseek, TheSecondVersionHasDefaults) {
  const ModelSpec spec = spec_of(R"({"model_type": "deepseek_v2"})");
  EXPECT_EQ(spec.stacks[0].hidden, 4096);
  EXPECT_EQ(spec.stacks[0].blocks[0].experts->top_k, 6);
  EXPECT_EQ(spec.mtp_layers, 0);
}

TEST(HubDeepseek, TheBiasThatBalancesExpertsCountsWhereTheFileSaysSo) {
  const auto biased = [](const std::string& text) {
    return spec_of(text).stacks[0].blocks.back().experts->correction_bias;
  };
  EXPECT_FALSE(biased(R"({"model_type": "deepseek_v3"})"));
  EXPECT_TRUE(biased(R"({"model_type": "deepseek_v3", "nest": {"counts_correction_bias": true}})"));
}

}  // namespace
}  // namespace nest::model
