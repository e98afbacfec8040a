// Parts of a layer that selective recomputation may repeat, by Megatron-LM's names. A set of them is what a recipe
// means by "selective".
//
//   find_module("moe_act")   -> RecomputeModule::moe_act
#pragma once

#include <array>
#include <bit>
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

inline constexpr std::size_t kMostModules = kRecomputeModules.size();

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
  [[nodiscard]] constexpr std::int64_t count() const { return std::popcount(bits_); }
  [[nodiscard]] static constexpr RecomputeModules of_bits(std::uint32_t bits) {
    RecomputeModules modules;
    modules.bits_ = bits;
    return modules;
  }
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

// In the order of the table.
[[nodiscard]] inline std::vector<std::string> names_of(RecomputeModules modules) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kMostModules; ++i) {
    if (modules.has(static_cast<RecomputeModule>(i))) names.emplace_back(kRecomputeModules[i]);
  }
  return names;
}

// The same with this between them: "layernorm, moe_act".
[[nodiscard]] inline std::string spell(RecomputeModules modules, std::string_view between) {
  std::string text;
  for (const std::string& name : names_of(modules)) {
    if (!text.empty()) text += between;
    text += name;
  }
  return text;
}

}  // namespace nest::recipe
