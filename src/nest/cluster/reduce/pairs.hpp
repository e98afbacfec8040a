// The true figures of every pair of devices, before they are reduced to levels: one bandwidth and one latency
// each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "nest/base/rooms.hpp"

namespace nest::cluster {

// SI numbers without their types: tables of millions, of which each field has one unit.
struct PairFigures {
  double bandwidth = 0;  // bytes per second
  double latency = 0;    // seconds
};

class PairTable {
 public:
  explicit PairTable(std::int32_t devices)
      : devices_(devices),
        figures_(static_cast<std::size_t>(devices) * static_cast<std::size_t>(devices - 1) / 2) {}

  [[nodiscard]] std::int32_t devices() const { return devices_; }
  [[nodiscard]] std::size_t pairs() const { return figures_.size(); }
  [[nodiscard]] PairFigures& at(std::int32_t a, std::int32_t b) { return figures_[slot(a, b)]; }
  [[nodiscard]] const PairFigures& at(std::int32_t a, std::int32_t b) const { return figures_[slot(a, b)]; }
  [[nodiscard]] const std::vector<PairFigures>& all() const { return figures_; }

 private:
  [[nodiscard]] static std::size_t slot(std::int32_t a, std::int32_t b) {
    if (a < b) std::swap(a, b);
    const auto row = static_cast<std::size_t>(a);
    return row * (row - 1) / 2 + static_cast<std::size_t>(b);
  }

  std::int32_t devices_;
  std::vector<PairFigures> figures_;
};

}  // namespace nest::cluster
