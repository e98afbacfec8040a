#include "nest/recipe/states.hpp"

#include <algorithm>
#include <array>

namespace nest::recipe {
namespace {

constexpr std::array kKeys{
    StateKey{"gradient_dtype", "gradients", &States::gradients},
    StateKey{"reduce_dtype", "reductions", &States::reduction},
    StateKey{"optimizer_dtype", "optimizer states", &States::moments},
};
constexpr std::array kOffloads{Offload{}, Offload{.optimizer = true}, Offload{.activations = true},
                               Offload{.optimizer = true, .activations = true}};
constexpr std::array kDtypes{StateDType::fp32, StateDType::bf16, StateDType::fp16, StateDType::fp8};

}  // namespace

std::size_t States::number() const {
  std::size_t number = 0;
  for (const StateKey& key : kKeys) {
    const std::optional<StateDType>& own = this->*key.member;
    number = number * (kDtypes.size() + 1) + (own ? 1 + static_cast<std::size_t>(*own) : 0);
  }
  number = number * 3 + (master_weights ? (*master_weights ? 2 : 1) : 0);
  return number * 4 + (offload.optimizer ? 1U : 0U) + (offload.activations ? 2U : 0U);
}

Recipe with_states(Recipe recipe, const States& states) {
  recipe.gradient_dtype = states.gradients.value_or(recipe.gradient_dtype);
  recipe.reduce_dtype = states.reduction.value_or(recipe.reduce_dtype);
  recipe.optimizer_dtype = states.moments.value_or(recipe.optimizer_dtype);
  recipe.master_weights = states.master_weights.value_or(recipe.master_weights);
  recipe.offload = states.offload;
  return recipe;
}

States states_of(const Recipe& recipe) {
  return {recipe.gradient_dtype, recipe.reduce_dtype, recipe.optimizer_dtype, recipe.master_weights,
          recipe.offload};
}

std::int64_t state_bytes(const Recipe& recipe) {
  return recipe.gradient_bytes_per_parameter() + size_of(recipe.reduce_dtype) +
         recipe.optimizer_bytes_per_parameter();
}

std::string spell(const States& states) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const StateKey& key : kKeys) {
    if (const auto& own = states.*key.member) add(std::string(key.title) + " " + std::string(name_of(*own)));
  }
  if (states.master_weights) add(*states.master_weights ? "master weights" : "no master weights");
  if (states.offload.any()) add(spell(states.offload) + " in host memory");
  return text;
}

const std::vector<std::string>& offload_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    names.reserve(std::size(kOffloads));
    for (const Offload& offload : kOffloads) names.push_back(spell(offload));
    return names;
  }();
  return kNames;
}

std::optional<Offload> find_offload(std::string_view name) {
  const auto* const at = std::ranges::find_if(kOffloads, [&](const Offload& o) { return spell(o) == name; });
  if (at == kOffloads.end()) return std::nullopt;
  return *at;
}

std::string spell(const Offload& offload) {
  std::string text(offload.activations ? kOffloadActivations : "");
  if (offload.optimizer) text += (text.empty() ? "" : "+") + std::string(kOffloadOptimizer);
  return text.empty() ? "none" : text;
}

std::span<const StateKey> state_keys() {
  return kKeys;
}

std::span<const StateDType> dtypes_of(const StateKey& key) {
  const bool moments = key.member == &States::moments;
  return {kDtypes.data(), kDtypes.size() - (moments ? 0 : 1)};
}

std::vector<std::string> dtype_names(const StateKey& key) {
  std::vector<std::string> names;
  for (const StateDType dtype : dtypes_of(key)) names.emplace_back(name_of(dtype));
  return names;
}

std::optional<StateDType> find_state_dtype(std::string_view name) {
  const auto* const at =
      std::find_if(kDtypes.begin(), kDtypes.end(), [&](StateDType dtype) { return name_of(dtype) == name; });
  if (at == kDtypes.end()) return std::nullopt;
  return *at;
}

}  // namespace nest::recipe
