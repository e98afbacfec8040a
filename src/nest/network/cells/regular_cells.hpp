// Where the placement rule lays cells side by side in domains that are all alike, without walking over them:
// the smallest domain that holds a cell holds the same number of cells everywhere, and no cell lies across
// its edge.
//
//   cells of 3 in nodes of 8, laid from device 4 on:  4, 8, 11, 16, 19, ..
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "nest/cluster/tree.hpp"

namespace nest::network {

class RegularCells {
 public:
  // None where domains that could hold a cell differ.
  [[nodiscard]] static std::optional<RegularCells> find(const DeviceTree& tree, std::int64_t cell) {
    for (std::int32_t l = 0; l < tree.levels() && tree.regular(LevelId(l)); ++l) {
      const std::int64_t devices = tree.devices_in(LevelId(l), 0);
      if (devices >= cell) return RegularCells(cell, devices);
    }
    return std::nullopt;
  }

  // Devices of the smallest domain that holds a cell, and the cells in it.
  [[nodiscard]] std::int64_t unit() const { return unit_; }
  [[nodiscard]] std::int64_t per_unit() const { return per_unit_; }

  // First device of cell number i of those laid from `from` on.
  [[nodiscard]] std::int64_t start(std::int64_t from, std::int64_t i) const {
    const std::int64_t before = from % unit_;
    const std::int64_t first = (unit_ - before) / cell_;  // cells before the first edge
    if (i < first) return from + i * cell_;
    const std::int64_t later = i - first;
    return from - before + unit_ + later / per_unit_ * unit_ + later % per_unit_ * cell_;
  }
  [[nodiscard]] std::int64_t end(std::int64_t from, std::int64_t cells) const {
    return start(from, cells - 1) + cell_;
  }
  // The first of those cells that ends after device `at`, which is not before `from`.
  [[nodiscard]] std::int64_t first_after(std::int64_t from, std::int64_t at) const {
    const std::int64_t before = from % unit_;
    const std::int64_t first = (unit_ - before) / cell_;
    const std::int64_t edge = from - before + unit_;
    if (at < edge) return std::min(first, (at - from) / cell_);
    const std::int64_t inside = (at - edge) % unit_;
    return first + (at - edge) / unit_ * per_unit_ + std::min(per_unit_, inside / cell_);
  }

 private:
  RegularCells(std::int64_t cell, std::int64_t unit) : cell_(cell), unit_(unit), per_unit_(unit / cell) {}

  std::int64_t cell_;
  std::int64_t unit_;
  std::int64_t per_unit_;
};

}  // namespace nest::network
