// Models for which Megatron Bridge has a recipe, found by their shape, whatever they are called here. The
// table is of v0.6 (2026-08-19): names that megatron.bridge.recipes exports.
//
//   find_bridge_recipe(spec)->name == "llama31_70b_pretrain_config"
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/frameworks/common/model_shape.hpp"

namespace nest::frameworks {

struct BridgeRecipe {
  std::string_view name;
  std::string_view hub;  // the model on Hugging Face whose configuration the recipe reads; empty: none
  ModelShape shape;
  std::optional<bool> scaled;  // whether rotary positions are scaled, where two recipes have one shape
  bool adapters = true;        // whether there is one for adapters too: adapter_recipe()

  // "llama31_70b_peft_config"
  [[nodiscard]] std::string adapter_recipe() const;
};

// The recipe of a plain GPT without sizes, for models that have none of their own.
inline constexpr std::string_view kPlainRecipe = "vanilla_gpt_pretrain_config";

[[nodiscard]] std::span<const BridgeRecipe> bridge_recipes();
// None where there is no recipe for this shape; a null spec has none.
[[nodiscard]] const BridgeRecipe* find_bridge_recipe(const ModelSpec* spec);

// Sentences about what the recipe's model on Hugging Face has in place of this model's details.
[[nodiscard]] std::vector<std::string> recipe_losses(const ModelSpec& spec, const BridgeRecipe& recipe);

}  // namespace nest::frameworks
