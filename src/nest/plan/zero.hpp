// ZeRO: what the ranks that hold the same parameters share among themselves. Everybody else asks these
// questions; the number is for files, command lines and texts only.
//
//   number               0     1     2     3
//   optimizer states   whole  part  part  part
//   gradients          whole whole  part  part
//   parameters         whole whole whole  part
//
// With ZeRO 3 a layer's parameters are gathered before they are used. What becomes of them between its passes is
// `resharding` (FSDP2's reshard_after_forward; docs/step.md has what each framework does):
//
//   always      they are freed after every pass
//   never       they stay from the forward pass until the backward pass has used them
//   first:4     never for a stage's first 4 layers, always for the others
//   group:8     each of 8 ranks keeps an eighth of them, and the backward pass gathers from these
#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nest/base/rooms.hpp"

namespace nest::plan {

struct Resharding {
  enum class Kind : std::uint8_t { always, never, first, group };
  Kind kind = Kind::always;
  std::int64_t number = 0;  // layers of `first`, ranks of `group`

  // Whether gathered parameters of some layers stay whole between the passes.
  [[nodiscard]] constexpr bool keeps() const { return kind == Kind::never || kind == Kind::first; }
  // Ranks that the backward pass gathers from; 0: all that share the parameters.
  [[nodiscard]] constexpr std::int64_t group() const { return kind == Kind::group ? number : 0; }
  auto operator<=>(const Resharding&) const = default;
};

[[nodiscard]] std::string spell(const Resharding& resharding);
// None for a text that spells none.
[[nodiscard]] std::optional<Resharding> read_resharding(std::string_view text);

// Whether so many of the ranks that share parameters can be a group to gather from: neither each alone nor all.
[[nodiscard]] constexpr bool resharding_group_fits(std::int64_t group, std::int64_t shards) {
  return group > 1 && group < shards && shards % group == 0;
}

class Zero {
 public:
  static constexpr std::int64_t kMost = 3;

  constexpr Zero() = default;
  constexpr Zero(std::int64_t number, Resharding resharding) : number_(number), resharding_(resharding) {}
  // Numbers become ZeRO without a word: plans and tests are full of `zero = 1`. Comparing with a number is
  // what does not compile.
  constexpr Zero(std::int64_t number) : number_(number) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] static constexpr std::array<Zero, kMost + 1> all() { return {0, 1, 2, 3}; }

  [[nodiscard]] constexpr std::int64_t number() const { return number_; }
  [[nodiscard]] constexpr bool valid() const { return number_ >= 0 && number_ <= kMost; }

  [[nodiscard]] constexpr bool shards_anything() const { return number_ > 0; }
  [[nodiscard]] constexpr bool shards_optimizer() const { return number_ >= 1; }
  [[nodiscard]] constexpr bool shards_gradients() const { return number_ >= 2; }
  [[nodiscard]] constexpr bool shards_parameters() const { return number_ >= 3; }

  // Gradients of sharded ranks are reduced after every backward pass, since no rank keeps them whole.
  [[nodiscard]] constexpr bool reduces_every_micro_batch() const { return shards_gradients(); }
  // Gradients that are whole until the end of the step are reduced to the shards that the optimizer needs.
  [[nodiscard]] constexpr bool scatters_at_step_end() const {
    return shards_optimizer() && !shards_gradients();
  }
  // Parameters that every rank keeps whole are gathered after each rank has updated its part.
  [[nodiscard]] constexpr bool gathers_at_step_end() const {
    return shards_optimizer() && !shards_parameters();
  }
  // Parameters that no rank keeps whole are gathered before every pass; before fewer where they are kept.
  [[nodiscard]] constexpr bool gathers_every_pass() const { return shards_parameters(); }
  [[nodiscard]] constexpr const Resharding& resharding() const { return resharding_; }

  constexpr bool operator==(const Zero&) const = default;
  template <std::integral Number>
  bool operator==(Number) const = delete;

 private:
  std::int64_t number_ = 0;
  Resharding resharding_;  // with number_ 3
};

// "ZeRO 3, reshard never".
[[nodiscard]] std::string spell(const Zero& zero);

}  // namespace nest::plan
