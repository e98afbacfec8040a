// The memory that tables (labels and options of stages) and open nodes of one search may take together, whatever the number of
// threads. A table that would take more than there is left is broken off.
//
//   MemoryBudget budget(Bytes{2'000'000'000});
//   budget.hold(nodes);                  // what is always there
//   MemoryShare share(&budget);          // of one table, given back at its end
//   share.change(+labels);               // throws TableTooLarge
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "nest/base/units.hpp"

namespace nest::solve {

// Thrown out of a table for which there is no memory.
struct TableTooLarge {};

class MemoryBudget {
 public:
  explicit MemoryBudget(Bytes limit) : limit_(limit.value) {}

  // In place of what was held before; no table is filled meanwhile.
  void hold(Bytes bytes) { held_ = bytes.value; }
  // Whether what is held is too much already.
  [[nodiscard]] bool full() const { return held_ > limit_; }
  // Bytes that one thread may keep from one table to the next.
  [[nodiscard]] std::int64_t kept() const { return limit_ / 8; }

 private:
  friend class MemoryShare;

  // False where it is more than there is; it is taken in any case.
  [[nodiscard]] bool take(std::int64_t bytes) {
    return taken_.fetch_add(bytes, std::memory_order_relaxed) + bytes + held_ <= limit_;
  }

  std::int64_t limit_;
  std::int64_t held_ = 0;
  std::atomic<std::int64_t> taken_ = 0;
};

// Of one table. Threads meet at the budget only now and then: small changes are collected.
class MemoryShare {
 public:
  MemoryShare() = default;
  explicit MemoryShare(MemoryBudget* budget) : budget_(budget) {}
  MemoryShare(MemoryShare&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)), waiting_(other.waiting_), taken_(other.taken_) {}
  MemoryShare& operator=(MemoryShare&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(waiting_, other.waiting_);
    std::swap(taken_, other.taken_);
    return *this;
  }
  ~MemoryShare() {
    if (budget_ != nullptr) (void)budget_->take(-taken_);
  }

  void change(std::int64_t bytes) {
    waiting_ += bytes;
    if (budget_ == nullptr || std::abs(waiting_) < kChunk) return;
    taken_ += waiting_;
    if (!budget_->take(std::exchange(waiting_, 0))) throw TableTooLarge{};
  }

  static constexpr std::int64_t kChunk = 1 << 16;

 private:
  MemoryBudget* budget_ = nullptr;
  std::int64_t waiting_ = 0;
  std::int64_t taken_ = 0;
};

}  // namespace nest::solve
