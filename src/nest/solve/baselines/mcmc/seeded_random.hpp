// Random numbers that are the same for a seed on every platform: the standard's engine, without its
// distributions, whose results are each library's own.
//
//   SeededRandom random(7);
//   random.below(6), random.unit(), random.one_of(list)
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::solve {

class SeededRandom {
 public:
  explicit SeededRandom(std::uint64_t seed) : engine_(seed) {}

  // From 0 to n - 1. The remainder favours small numbers by less than n in 2^64.
  [[nodiscard]] std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n));
  }
  [[nodiscard]] bool once_in(std::int64_t n) { return below(n) == 0; }
  // From 0 to just below 1, in steps of 2^-53.
  [[nodiscard]] double unit() { return static_cast<double>(engine_() >> 11U) * 0x1p-53; }
  template <class T>
  [[nodiscard]] const T& one_of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(list.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace nest::solve
