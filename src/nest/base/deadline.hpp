// Until when work may go on: a time on the wall clock, where there is a limit, and a flag that another thread
// or a signal may set. A question owns one, and all that is done for its answer looks at it. Copies share the
// flag.
//
//   const Deadline deadline(Seconds{60});
//   while (!deadline.over()) open_nodes();     // between pieces of work
//   for (const Move& move : moves) {
//     deadline.glance();                       // inside one: throws Stopped
//
// What is nearly done is worth a moment: from the limit on nothing new is begun (`over`), and what is under
// way is broken off a little later (`late`). Once it is cancelled, both hold at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "nest/base/units.hpp"

namespace nest::base {

// Thrown out of work that is broken off.
struct Stopped {};

class Deadline {
 public:
  // Without a limit it ends only where it is cancelled.
  Deadline() = default;
  // From now on.
  explicit Deadline(std::optional<Seconds> limit) {
    if (limit) set(*limit, kMoment);
  }

  // A part of it: ends after `limit` from now on, or together with this one.
  [[nodiscard]] Deadline within(Seconds limit) const {
    Deadline part = *this;
    part.set(limit, Seconds{});
    if (!end_) return part;
    part.end_ = std::min(*part.end_, *end_);
    part.late_ = std::min(*part.late_, *late_);
    return part;
  }

  // The limit from now on, in place of another; of this one and not of its copies.
  void begin(Seconds limit) { set(limit, kMoment); }

  void cancel() const { *cancelled_ = true; }
  [[nodiscard]] bool cancelled() const { return cancelled_->load(std::memory_order_relaxed); }
  // For a handler of signals, which may touch nothing else; it lives as long as any copy of this.
  [[nodiscard]] std::atomic<bool>* flag() const { return cancelled_.get(); }

  [[nodiscard]] bool limited() const { return end_.has_value(); }
  // None where there is no limit.
  [[nodiscard]] std::optional<Seconds> left() const {
    if (!end_) return std::nullopt;
    const std::chrono::duration<double> left = *end_ - Clock::now();
    return Seconds{cancelled() ? 0 : std::max(0.0, left.count())};
  }

  [[nodiscard]] bool over() const { return cancelled() || (end_ && Clock::now() >= *end_); }
  [[nodiscard]] bool late() const { return cancelled() || (late_ && Clock::now() >= *late_); }
  void look() const {
    if (late()) throw Stopped{};
  }
  // The same for loops of many short steps: looks at the clock in one call of kGlances only.
  void glance() const {
    if (cancelled()) throw Stopped{};
    if (!late_) return;
    thread_local unsigned glances = 0;
    if (++glances % kGlances == 0) look();
  }

  static constexpr unsigned kGlances = 64;

 private:
  using Clock = std::chrono::steady_clock;

  // Beyond the limit, in which the first plan of a short search may still be found; and a share of any limit.
  static constexpr Seconds kMoment{0.3};
  static constexpr double kShare = 0.1;
  // More than a year has no end that a clock could count to.
  static constexpr double kLongest = 4e7;

  void set(Seconds limit, Seconds more) {
    const auto at = [now = Clock::now()](Seconds after) {
      return now + std::chrono::duration_cast<Clock::duration>(
                       std::chrono::duration<double>(std::clamp(after.value, 0.0, kLongest)));
    };
    end_ = at(limit);
    late_ = at(limit * (1 + kShare) + more);
  }

  std::shared_ptr<std::atomic<bool>> cancelled_ = std::make_shared<std::atomic<bool>>(false);
  std::optional<Clock::time_point> end_;
  std::optional<Clock::time_point> late_;
};

}  // namespace nest::base
