// How long something takes on the wall clock.
#pragma once

#include <chrono>

#include "nest/base/units.hpp"

namespace nest::base {

class Stopwatch {
 public:
  // Since it was made, or since the last lap.
  [[nodiscard]] Seconds elapsed() const {
    return Seconds{std::chrono::duration<double>(Clock::now() - begin_).count()};
  }
  // The same, and begins again.
  Seconds lap() {
    const Clock::time_point last = begin_;
    begin_ = Clock::now();
    return Seconds{std::chrono::duration<double>(begin_ - last).count()};
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point begin_ = Clock::now();
};

}  // namespace nest::base
