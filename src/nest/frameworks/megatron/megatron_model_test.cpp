#include "nest/frameworks/megatron/megatron_model.hpp"

#include <gtest/gtest.h>

#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

std::string text_of(const char* name, std::vector<std::string>& lost, const char* release = "core_v0.19") {
  return flag_text(
      {megatron_model_flags(zoo_model(name), {find_releases("megatron")->find(release), false}, lost)});
}

bool holds(const std::string& text, const char* line) {
  return ("\n" + text).find(std::string("\n") + line + "\n") != std::string::npos;
}

TEST(MegatronModel, OfDeepSeekV3) {
  std::vector<std::string> lost;
  EXPECT_EQ(
      text_of("deepseek-v3", lost),
      "# Model\n--num-layers 61\n--hidden-size 7168\n--ffn-hidden-size 18432\n--num-attention-heads 128\n"
      "--multi-latent-attention\n--q-lora-rank 1536\n--kv-lora-rank 512\n--qk-head-dim 128\n"
      "--qk-pos-emb-head-dim 64\n--v-head-dim 128\n--qk-layernorm\n--vocab-size 129280\n"
      "--make-vocab-size-divisible-by 128\n--untie-embeddings-and-output-weights\n--num-experts 256\n"
      "--moe-router-topk 8\n--moe-ffn-hidden-size 2048\n--moe-layer-freq ([0]*3+[1]*58)\n"
      "--moe-shared-expert-intermediate-size 2048\n--position-embedding-type rope\n--normalization RMSNorm\n"
      "--swiglu\n--disable-bias-linear\n--rotary-base 10000\n--rope-type yarn\n--rotary-scaling-factor 40\n"
      "--mscale 1\n--mscale-all-dim 1\n--norm-epsilon 1e-06\n--moe-router-num-groups "
      "8\n--moe-router-group-topk 4\n"
      "--moe-router-score-function sigmoid\n--moe-router-enable-expert-bias\n"
      "--moe-router-topk-scaling-factor 2.5\n--moe-router-load-balancing-type seq_aux_loss\n"
      "--moe-aux-loss-coeff 0.001\n");
  EXPECT_EQ(lost, std::vector<std::string>{"multi-token prediction modules are not part of the plan"});
}

TEST(MegatronModel, OfGpt3) {
  std::vector<std::string> lost;
  EXPECT_EQ(
      text_of("gpt3-175b", lost),
      "# Model\n--num-layers 96\n--hidden-size 12288\n--ffn-hidden-size 49152\n--num-attention-heads 96\n"
      "--kv-channels 128\n--vocab-size 50257\n--make-vocab-size-divisible-by 128\n"
      "--position-embedding-type learned_absolute\n--normalization LayerNorm\n--norm-epsilon 1e-05\n");
  EXPECT_TRUE(lost.empty());
}

TEST(MegatronModel, SaysWhatIsLost) {
  for (const auto& [name, losses] : {std::pair("qwen2.5-7b", 0),
                                     {"gemma2-9b", 5},
                                     {"phi-2", 2},
                                     {"opt-6.7b", 1},
                                     {"mistral-7b", 0},
                                     {"qwen1.5-moe-a2.7b", 0},
                                     {"llama3.1-8b", 0},
                                     {"mixtral-8x7b", 0}}) {
    std::vector<std::string> lost;
    static_cast<void>(text_of(name, lost));
    EXPECT_EQ(lost.size(), static_cast<std::size_t>(losses)) << name << ": " << (lost.empty() ? "" : lost[0]);
  }
}

// Gated GELU has a third matrix: without the gate, Gemma-2 27B would have 19.4 B parameters.
TEST(MegatronModel, GatedGeluKeepsItsGate) {
  std::vector<std::string> lost;
  EXPECT_TRUE(holds(text_of("gemma2-27b", lost), "--quick-geglu"));
  EXPECT_TRUE(holds(text_of("gemma2-27b", lost, "core_v0.15"), "--quick-geglu"));
  lost.clear();
  EXPECT_TRUE(holds(text_of("gemma2-27b", lost, "core_v0.14"), "--swiglu"));
  EXPECT_EQ(lost.front(), "the gate is silu in place of gelu: this release has no gated gelu");
}

TEST(MegatronModel, SharedExpertsHaveTheirGate) {
  std::vector<std::string> lost;
  EXPECT_TRUE(holds(text_of("qwen1.5-moe-a2.7b", lost, "core_v0.16"), "--moe-shared-expert-gate"));
  EXPECT_TRUE(lost.empty());
  EXPECT_FALSE(holds(text_of("qwen1.5-moe-a2.7b", lost, "core_v0.15"), "--moe-shared-expert-gate"));
  EXPECT_EQ(lost,
            std::vector<std::string>{"left out: the gate of the shared expert, one value for each token"});
}

TEST(MegatronModel, PatternsOfExperts) {
  StackSpec stack;
  stack.blocks.resize(5);
  EXPECT_EQ(expert_pattern(stack), "");
  for (const std::size_t i : {1U, 3U, 4U}) stack.blocks[i].experts = ExpertsSpec{};
  EXPECT_EQ(expert_pattern(stack), "([0]*1+[1]*1+[0]*1+[1]*2)");
}

}  // namespace
}  // namespace nest::frameworks
