// Dtypes of what is held and sent between the passes and steps of training, and where the optimizer holds its states,
// where somebody chooses others than the recipe has: a plan carries them, a search may choose among them.
//
//   with_states(named_recipe("megatron"), {.moments = StateDType::bf16}).optimizer_dtype   -> bf16
//   spell(States{.moments = StateDType::bf16, .master_weights = false})   -> "optimizer states bf16, no master weights"
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nest/recipe/recipe.hpp"

namespace nest::recipe {

// What is not said is the recipe's.
struct States {
  std::optional<StateDType> gradients;  // as micro-batches add them up
  std::optional<StateDType> reduction;  // as ranks send them to each other
  std::optional<StateDType> moments;    // of the optimizer
  std::optional<bool> master_weights;
  Offload offload;

  [[nodiscard]] bool any() const {
    return gradients || reduction || moments || master_weights || offload.any();
  }
  // The same for equal ones alone, below kStateNumbers; 0: all is the recipe's.
  [[nodiscard]] std::size_t number() const;

  bool operator==(const States&) const = default;
};
inline constexpr std::size_t kStateNumbers = 5 * 5 * 5 * 3 * 4;

[[nodiscard]] Recipe with_states(Recipe recipe, const States& states);
// All of them, as a recipe has them.
[[nodiscard]] States states_of(const Recipe& recipe);
// Of what is held and sent, for each parameter: of two choices, the one with fewer has no longer a step.
[[nodiscard]] std::int64_t state_bytes(const Recipe& recipe);

// What is chosen, for people; empty where nothing is.
[[nodiscard]] std::string spell(const States& states);

// One dtype of States by the key that recipes and plans have for it. Master weights are a key of their own, which is
// true or false.
struct StateKey {
  std::string_view key;    // "gradient_dtype"
  std::string_view title;  // "gradients"
  std::optional<StateDType> States::* member;
};
[[nodiscard]] std::span<const StateKey> state_keys();
inline constexpr std::string_view kMasterWeights = "master_weights";
// What may lie in host memory, as plans and options call it.
inline constexpr std::string_view kOffloadOptimizer = "optimizer";
inline constexpr std::string_view kOffloadActivations = "activations";
// "none", "optimizer", "activations" or "activations+optimizer".
[[nodiscard]] std::string spell(const Offload& offload);
[[nodiscard]] const std::vector<std::string>& offload_names();
[[nodiscard]] std::optional<Offload> find_offload(std::string_view name);
// What a key takes, widest first: only moments may be fp8.
[[nodiscard]] std::span<const StateDType> dtypes_of(const StateKey& key);
[[nodiscard]] std::vector<std::string> dtype_names(const StateKey& key);
[[nodiscard]] std::optional<StateDType> find_state_dtype(std::string_view name);

}  // namespace nest::recipe
