// What is to happen, by time; of equal times in the order in which it was put in, so that runs repeat.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::simulate {

struct Due {
  double time = 0;
  std::uint64_t order = 0;
  std::uint8_t kind = 0;
  std::int32_t subject = 0;
  std::uint32_t version = 0;
};

class EventQueue {
 public:
  void push(double time, std::uint8_t kind, std::int32_t subject, std::uint32_t version = 0) {
    heap_.push_back({time, next_++, kind, subject, version});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] double next_time() const { return heap_.front().time; }
  Due pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Due due = heap_.back();
    heap_.pop_back();
    return due;
  }

 private:
  static bool later(const Due& a, const Due& b) {
    return a.time > b.time || (a.time == b.time && a.order > b.order);
  }
  std::vector<Due> heap_;
  std::uint64_t next_ = 0;
};

}  // namespace nest::simulate
