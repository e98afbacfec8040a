// Parts of a layer that selective recomputation may repeat, by Megatron-LM's names. A set of them is what a recipe
// means by "selective".
//
//   find_module("moe_act")   -> RecomputeModule::moe_act
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nest::recipe {

enum class RecomputeModule : std::uint8_t {
  core_attn,    // the attention core
  mla_up_proj,  // up-projections of latent attention, with rotary positions
  layernorm,    // norms of the residual stream
  moe_act,      // activations of routed experts
  mlp,          // the feed-forward layer of dense blocks
  moe,          // router, exchanges, routed experts
  shared_experts,
};

inline constexpr std::array<std::string_view, 7> kRecomputeModules{
    "core_attn", "mla_up_proj", "layernorm", "moe_act", "mlp", "moe", "shared_experts"};

class RecomputeModules {
 public:
  constexpr RecomputeModules() = default;
  constexpr RecomputeModules(std::initializer_list<RecomputeModule> list) {
    for (const RecomputeModule module : list) add(module);
  }
  constexpr void add(RecomputeModule module) { bits_ |= 1U << static_cast<unsigned>(module); }
  [[nodiscard]] constexpr bool has(RecomputeModule module) const {
    return (bits_ & (1U << static_cast<unsigned>(module))) != 0;
  }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  // One bit for each, in the order of kRecomputeModules.
  [[nodiscard]] constexpr std::uint32_t bits() const { return bits_; }
  auto operator<=>(const RecomputeModules&) const = default;

 private:
  std::uint32_t bits_ = 0;
};

[[nodiscard]] constexpr std::optional<RecomputeModule> find_module(std::string_view name) {
  for (std::size_t i = 0; i < kRecomputeModules.size(); ++i) {
    if (kRecomputeModules[i] == name) return static_cast<RecomputeModule>(i);
  }
  return std::nullopt;
}

}  // namespace nest::recipe
