// ZeRO: what the ranks that hold the same parameters share among themselves. Everybody else asks these
// questions; the number is for files, command lines and texts only.
//
//   number               0     1     2     3
//   optimizer states   whole  part  part  part
//   gradients          whole whole  part  part
//   parameters         whole whole whole  part
#pragma once

#include <array>
#include <concepts>
#include <cstdint>

#include "nest/base/rooms.hpp"

namespace nest::plan {

class Zero {
 public:
  static constexpr std::int64_t kMost = 3;

  constexpr Zero() = default;
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
  // Parameters that no rank keeps whole are gathered before every pass.
  [[nodiscard]] constexpr bool gathers_every_pass() const { return shards_parameters(); }

  constexpr bool operator==(const Zero&) const = default;
  template <std::integral Number>
  bool operator==(Number) const = delete;

 private:
  std::int64_t number_ = 0;
};

}  // namespace nest::plan
