#include "nest/frameworks/megatron_core/bridge_recipes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "nest/frameworks/common/model_details.hpp"
#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

constexpr std::int64_t kLlama = 128256;
constexpr std::int64_t kQwen = 151936;       // smaller Qwen2 and all Qwen3
constexpr std::int64_t kLargeQwen = 152064;  // Qwen2 from 7B on
constexpr std::int64_t kGemma = 256000;

constexpr ModelShape dense(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                           std::int64_t kv_heads, std::int64_t ffn, std::int64_t vocab, bool tied = false) {
  return {layers, hidden, heads, kv_heads, ffn, vocab, 0, 0, 0, 0, 0, tied};
}

// The first one with a shape is taken.
constexpr std::array kRecipes{
    BridgeRecipe{"llama2_7b_pretrain_config",
                 "meta-llama/Llama-2-7b-hf",
                 dense(32, 4096, 32, 32, 11008, 32000),
                 {},
                 false},
    BridgeRecipe{"llama3_8b_pretrain_config", "meta-llama/Meta-Llama-3-8B",
                 dense(32, 4096, 32, 8, 14336, kLlama), false},
    BridgeRecipe{"llama31_8b_pretrain_config", "meta-llama/Meta-Llama-3.1-8B",
                 dense(32, 4096, 32, 8, 14336, kLlama), true},
    BridgeRecipe{"llama3_70b_pretrain_config", "meta-llama/Meta-Llama-3-70B",
                 dense(80, 8192, 64, 8, 28672, kLlama), false},
    BridgeRecipe{"llama31_70b_pretrain_config", "meta-llama/Meta-Llama-3.1-70B",
                 dense(80, 8192, 64, 8, 28672, kLlama), true},
    BridgeRecipe{"llama31_405b_pretrain_config",
                 "meta-llama/Meta-Llama-3.1-405B",
                 dense(126, 16384, 128, 8, 53248, kLlama),
                 {}},
    BridgeRecipe{"llama32_1b_pretrain_config",
                 "meta-llama/Llama-3.2-1B",
                 dense(16, 2048, 32, 8, 8192, kLlama, true),
                 {}},
    BridgeRecipe{"llama32_3b_pretrain_config",
                 "meta-llama/Llama-3.2-3B",
                 dense(28, 3072, 24, 8, 8192, kLlama, true),
                 {}},
    BridgeRecipe{
        "qwen25_500m_pretrain_config", "Qwen/Qwen2.5-0.5B", dense(24, 896, 14, 2, 4864, kQwen, true), {}},
    BridgeRecipe{
        "qwen25_1p5b_pretrain_config", "Qwen/Qwen2.5-1.5B", dense(28, 1536, 12, 2, 8960, kQwen, true), {}},
    BridgeRecipe{
        "qwen25_7b_pretrain_config", "Qwen/Qwen2.5-7B", dense(28, 3584, 28, 4, 18944, kLargeQwen), {}},
    BridgeRecipe{
        "qwen25_14b_pretrain_config", "Qwen/Qwen2.5-14B", dense(48, 5120, 40, 8, 13824, kLargeQwen), {}},
    BridgeRecipe{
        "qwen25_32b_pretrain_config", "Qwen/Qwen2.5-32B", dense(64, 5120, 40, 8, 27648, kLargeQwen), {}},
    BridgeRecipe{
        "qwen25_72b_pretrain_config", "Qwen/Qwen2.5-72B", dense(80, 8192, 64, 8, 29568, kLargeQwen), {}},
    BridgeRecipe{
        "qwen3_600m_pretrain_config", "Qwen/Qwen3-0.6B", dense(28, 1024, 16, 8, 3072, kQwen, true), {}},
    BridgeRecipe{
        "qwen3_1p7b_pretrain_config", "Qwen/Qwen3-1.7B", dense(28, 2048, 16, 8, 6144, kQwen, true), {}},
    BridgeRecipe{"qwen3_4b_pretrain_config", "Qwen/Qwen3-4B", dense(36, 2560, 32, 8, 9728, kQwen, true), {}},
    BridgeRecipe{"qwen3_8b_pretrain_config", "Qwen/Qwen3-8B", dense(36, 4096, 32, 8, 12288, kQwen), {}},
    BridgeRecipe{"qwen3_14b_pretrain_config", "Qwen/Qwen3-14B", dense(40, 5120, 40, 8, 17408, kQwen), {}},
    BridgeRecipe{"qwen3_32b_pretrain_config", "Qwen/Qwen3-32B", dense(64, 5120, 64, 8, 25600, kQwen), {}},
    BridgeRecipe{
        "qwen3_30b_a3b_pretrain_config", "Qwen/Qwen3-30B-A3B", {48, 2048, 32, 4, 0, kQwen, 128, 8, 768}, {}},
    BridgeRecipe{"qwen3_235b_a22b_pretrain_config",
                 "Qwen/Qwen3-235B-A22B",
                 {94, 4096, 64, 4, 0, kQwen, 128, 8, 1536},
                 {}},
    BridgeRecipe{"deepseek_v2_lite_pretrain_config",
                 "deepseek-ai/DeepSeek-V2-Lite",
                 {27, 2048, 16, 16, 10944, 102400, 64, 6, 1408, 0, 512},
                 {},
                 false},
    BridgeRecipe{"deepseek_v2_pretrain_config",
                 "deepseek-ai/DeepSeek-V2",
                 {60, 5120, 128, 128, 12288, 102400, 160, 6, 1536, 1536, 512},
                 {},
                 false},
    BridgeRecipe{"deepseek_v3_pretrain_config",
                 "deepseek-ai/DeepSeek-V3",
                 {61, 7168, 128, 128, 18432, 129280, 256, 8, 2048, 1536, 512},
                 {},
                 false},
    BridgeRecipe{
        "gemma2_2b_pretrain_config", "google/gemma-2-2b", dense(26, 2304, 8, 4, 9216, kGemma, true), {}},
    BridgeRecipe{
        "gemma2_9b_pretrain_config", "google/gemma-2-9b", dense(42, 3584, 16, 8, 14336, kGemma, true), {}},
    BridgeRecipe{
        "gemma2_27b_pretrain_config", "google/gemma-2-27b", dense(46, 4608, 32, 16, 36864, kGemma, true), {}},
};

}  // namespace

std::string BridgeRecipe::adapter_recipe() const {
  constexpr std::string_view kPretrain = "pretrain";
  std::string out(name);
  return out.replace(out.find(kPretrain), kPretrain.size(), "peft");
}

std::span<const BridgeRecipe> bridge_recipes() {
  return kRecipes;
}

const BridgeRecipe* find_bridge_recipe(const ModelSpec* spec) {
  const std::optional<ModelShape> shape = model_shape(spec);
  if (!shape) return nullptr;
  const auto at = std::find_if(kRecipes.begin(), kRecipes.end(), [&](const BridgeRecipe& recipe) {
    return recipe.shape == *shape &&
           recipe.scaled.value_or(spec->details.scaling.has_value()) == spec->details.scaling.has_value();
  });
  return at == kRecipes.end() ? nullptr : &*at;
}

std::vector<std::string> recipe_losses(const ModelSpec& spec, const BridgeRecipe& recipe) {
  return differing_details(spec, zoo_model(recipe.hub), recipe.hub);
}

}  // namespace nest::frameworks
