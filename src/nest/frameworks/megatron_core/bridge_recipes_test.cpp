#include "nest/frameworks/megatron_core/bridge_recipes.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "nest/model/zoo.hpp"

namespace nest::frameworks {
namespace {

std::string recipe_of(const std::string& model) {
  const ModelSpec spec = zoo_model(model);
  const BridgeRecipe* recipe = find_bridge_recipe(&spec);
  return recipe == nullptr ? "" : std::string(recipe->name);
}

TEST(BridgeRecipes, AreFoundByShape) {
  EXPECT_EQ(recipe_of("llama3.1-70b"), "llama31_70b_pretrain_config");
  EXPECT_EQ(recipe_of("llama3.3-70b"), "llama31_70b_pretrain_config");
  EXPECT_EQ(recipe_of("llama3-70b"), "llama3_70b_pretrain_config");
  EXPECT_EQ(recipe_of("llama3-8b"), "llama3_8b_pretrain_config");
  EXPECT_EQ(recipe_of("llama3.1-8b"), "llama31_8b_pretrain_config");
  EXPECT_EQ(recipe_of("llama2-7b"), "llama2_7b_pretrain_config");
  EXPECT_EQ(recipe_of("qwen2-7b"), "qwen25_7b_pretrain_config");
  EXPECT_EQ(recipe_of("deepseek-r1"), "deepseek_v3_pretrain_config");
  EXPECT_EQ(recipe_of("mixtral-8x7b"), "");
  EXPECT_EQ(recipe_of("t5-11b"), "");
  EXPECT_EQ(find_bridge_recipe(nullptr), nullptr);
}

TEST(BridgeRecipes, AdaptersHaveRecipesOfTheirOwn) {
  const auto adapters_of = [](const char* model) {
    const ModelSpec spec = zoo_model(model);
    const BridgeRecipe* recipe = find_bridge_recipe(&spec);
    return recipe->adapters ? recipe->adapter_recipe() : "";
  };
  EXPECT_EQ(adapters_of("llama3.1-70b"), "llama31_70b_peft_config");
  EXPECT_EQ(adapters_of("qwen3-30b-a3b"), "qwen3_30b_a3b_peft_config");
  for (const char* model : {"llama2-7b", "deepseek-v2-lite", "deepseek-v2", "deepseek-v3"})
    EXPECT_EQ(adapters_of(model), "") << model;
}

// Every row is the recipe of one of the models that we ship.
TEST(BridgeRecipes, EachHasAModelOfItsShape) {
  std::set<std::string> found;
  for (const char* model :
       {"llama2-7b",   "llama3-8b",   "llama3.1-8b",   "llama3-70b",      "llama3.1-70b",     "llama3.1-405b",
        "llama3.2-1b", "llama3.2-3b", "qwen2.5-0.5b",  "qwen2.5-1.5b",    "qwen2.5-7b",       "qwen2.5-14b",
        "qwen2.5-32b", "qwen2.5-72b", "qwen3-0.6b",    "qwen3-1.7b",      "qwen3-4b",         "qwen3-8b",
        "qwen3-14b",   "qwen3-32b",   "qwen3-30b-a3b", "qwen3-235b-a22b", "deepseek-v2-lite", "deepseek-v2",
        "deepseek-v3", "gemma2-2b",   "gemma2-9b",     "gemma2-27b"})
    found.insert(recipe_of(model));
  for (const BridgeRecipe& recipe : bridge_recipes())
    EXPECT_TRUE(found.contains(std::string(recipe.name))) << recipe.name;
}

}  // namespace
}  // namespace nest::frameworks
